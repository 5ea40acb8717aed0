# PipSink's commands. Each of them installs what it needs.

SWIFT ?= swift
SWIFT_SOURCES = Package.swift Sources Tests Fuzz examples
DEMO_OUTPUT ?= demo-output
SOAK_SECONDS ?= 300
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= pipeline-file options dbus caps calls output

# Each process runs one test at a time: most tests run pipelines and programs, with deadlines that two cores must meet.
test_options = --no-parallel

run_tests = SWIFT="$(SWIFT)" scripts/run-tests.sh

# CI builds everything once, so it needs no data for building again and for debuggers. The sanitizers' reports then name
# functions without lines.
ifdef CI
test_options += -debug-info-format none
module_options = -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2
endif

# In what CI runs, warnings are errors. SwiftPM leaves this out for the packages that PipSink depends on.
checked = -Xswiftc -warnings-as-errors
sanitizer_environment = \
  SWIFT_BACKTRACE=enable=no \
  TSAN_OPTIONS="suppressions=$(CURDIR)/scripts/tsan.suppressions ignore_noninstrumented_modules=1 halt_on_error=1" \
  ASAN_OPTIONS="detect_leaks=0 quarantine_size_mb=8"

products = "$$($(SWIFT) build -c release --show-bin-path)"

.PHONY: demo test soak fuzz interface lint format bench bench-results bench-programs bench-tables test-cost test-tsan test-asan test-valgrind test-foreign clean dependencies demo-dependencies bench-dependencies \
  test-dependencies package-dependencies install-build install uninstall deb test-deb docs

demo: demo-dependencies
	$(SWIFT) build -c release --product pipsink-demo
	mkdir -p $(DEMO_OUTPUT)
	$(products)/pipsink-demo play --pipeline pipelines/call-rtp.launch --duration 6 \
	  --at 1=snapshot --at 2=pip:remote-2 --at 3=snapshot --at 4=normal --at 5=snapshot \
	  --snapshots $(DEMO_OUTPUT) --report $(DEMO_OUTPUT)/report.json

# The tests that count instructions and allocations are built optimized, while the other tests wait.
test: test-dependencies lint
	@PIPSINK_BESIDE="nice -n 19 $(MAKE) -s test-cost" $(run_tests) $(test_options) $(checked) $(module_options)

test-cost: test-dependencies
	PIPSINK_TESTS=CostTests,TestSupport $(run_tests) $(test_options) $(checked) -c release -Xswiftc -enable-testing --scratch-path .build/optimized

# Runs a call for five minutes in which fifty people come and go, and compares the frame times of those who stay.
soak: test-dependencies
	PIPSINK_SOAK_SECONDS=$(SOAK_SECONDS) $(run_tests) -c release -Xswiftc -enable-testing --scratch-path .build/optimized --filter SoakTests

# Fuzzes all code that reads untrusted input, with libFuzzer and AddressSanitizer, for FUZZ_SECONDS for each target.
fuzz: dependencies
	SWIFT="$(SWIFT)" scripts/fuzz.sh build
	for target in $(FUZZ_TARGETS); do scripts/fuzz.sh $$target $(FUZZ_SECONDS) || exit 1; done

tsan_options = $(test_options) $(checked) $(module_options) --sanitize=thread --scratch-path .build/tsan
asan_options = $(test_options) $(checked) $(module_options) --sanitize=address --scratch-path .build/asan

test-tsan: test-dependencies
	$(sanitizer_environment) $(run_tests) $(tsan_options)

test-asan: test-dependencies
	$(sanitizer_environment) $(run_tests) $(asan_options)

# Runs the optimized elements in gst-launch-1.0 under memcheck.
test-valgrind: test-dependencies
	SWIFT="$(SWIFT)" scripts/test-valgrind.sh

# Runs GStreamer's check suites with the element in place of their sinks. docs/foreign-suites.md has the results.
test-foreign: test-dependencies
	SWIFT="$(SWIFT)" scripts/test-foreign.sh

# Brings docs/interface, the list of what is public in the libraries, up to date with the sources.
interface: test-dependencies
	PIPSINK_WRITE_INTERFACE=1 $(run_tests) $(test_options) --filter 'RepositoryTests.InterfaceTests'

lint:
	$(SWIFT) format lint --strict --recursive $(SWIFT_SOURCES)

format:
	$(SWIFT) format --in-place --recursive $(SWIFT_SOURCES)

bench: bench-dependencies
	$(SWIFT) build -c release --product pipsink-bench
	$(products)/pipsink-bench route
	$(products)/pipsink-bench kernels

# Runs all benchmarks, which takes half an hour, and updates Benchmarks/results and docs/benchmarks.md. To run only some:
#   make bench-results BENCHMARKS="instructions scale kernels switch"
# Windows on Wayland are only measured with WAYLAND_DISPLAY. Without these options, weston draws nothing, or nothing
# after five minutes:
#   weston --backend=headless-backend.so --use-pixman --idle-time=0
BENCHMARKS ?= instructions route memory kernels present switch scale
RESULTS = Benchmarks/results
instructions_options = route --instructions --rounds 3
route_options = route --streams 1,4,16,64 --rounds 7
memory_options = memory
kernels_options = kernels
present_options = present --rounds 3 --seconds 1.5
switch_options = switch
scale_options = scale --rounds 3

bench-results: bench-programs $(BENCHMARKS:%=bench-result-%)
	$(MAKE) -s bench-tables

bench-programs: test-dependencies
	$(SWIFT) build -c release --product pipsink-demo
	$(SWIFT) build -c release --product gstpipsink
	$(SWIFT) build -c release --product pipsink-bench

$(BENCHMARKS:%=bench-result-%): bench-result-%: bench-programs
	$(products)/pipsink-bench $(or $($*_options),$(error there is no benchmark "$*")) --json $(RESULTS)/$*.json

# Updates the tables in the document from the results.
bench-tables:
	$(products)/pipsink-bench table --into docs/benchmarks.md $(wildcard $(RESULTS)/*.json)

.NOTPARALLEL:

# The installed files contain Swift's runtime. The plugin exports only its entry points, and the program exports
# nothing, which makes it half a megabyte smaller. Swift makes position-independent programs by default; relro and now
# make the linker protect the tables of addresses. The linker is the toolchain's: Debian 13's ld leaves relro out, as
# Swift's constants are in a section that can be written to. Both are built with the same options, as Swift builds again
# what it has built with others. Packed relocations, which glibc 2.36 and later read, make the program 1.2 MB smaller.
PREFIX ?= /usr/local
install_build = $(SWIFT) build -c release --scratch-path .build/install -Xswiftc -static-stdlib -Xswiftc -use-ld=lld \
  -Xlinker --gc-sections -Xlinker --as-needed -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now \
  -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --no-export-dynamic \
  -Xlinker --version-script=$(CURDIR)/scripts/gstpipsink.map
install_products = .build/install/release
plugin_folder = $(PREFIX)/lib/$(shell dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null)/gstreamer-1.0
share = $(DESTDIR)$(PREFIX)/share
# debhelper strips the packages itself, and keeps the debug symbols for a package of their own.
STRIP_OPTION = -s
desktop_entries = pipsink-demo.desktop pipsink-open.desktop
languages = $(shell cat po/LINGUAS)
translation = $(share)/locale/$(1)/LC_MESSAGES/pipsink.mo

install-build: dependencies
	$(install_build) --product gstpipsink
	$(install_build) --product pipsink-demo

install: install-build
	install -D $(STRIP_OPTION) -m 755 $(install_products)/pipsink-demo $(DESTDIR)$(PREFIX)/bin/pipsink-demo
	install -D $(STRIP_OPTION) -m 644 $(install_products)/libgstpipsink.so $(DESTDIR)$(plugin_folder)/libgstpipsink.so
	install -D -m 644 -t $(share)/pipsink/pipelines pipelines/*.launch
	install -D -m 644 -t $(share)/man/man1 docs/pipsink-demo.1
	install -D -m 644 -t $(share)/man/man7 docs/pipsink.7
	install -d $(foreach language,$(languages),$(dir $(call translation,$(language))))
	$(foreach language,$(languages),msgfmt -o $(call translation,$(language)) po/$(language).po &&) true
	install -d $(share)/bash-completion/completions $(share)/zsh/vendor-completions $(share)/fish/vendor_completions.d
	$(install_products)/pipsink-demo --generate-completion-script bash | sed '1{/^#!/d}' \
	  > $(share)/bash-completion/completions/pipsink-demo
	$(install_products)/pipsink-demo --generate-completion-script zsh > $(share)/zsh/vendor-completions/_pipsink-demo
	$(install_products)/pipsink-demo --generate-completion-script fish > $(share)/fish/vendor_completions.d/pipsink-demo.fish
	install -D -m 644 -t $(share)/applications $(addprefix data/,$(desktop_entries))
	sed -i 's|/usr/share/|$(PREFIX)/share/|' $(addprefix $(share)/applications/,$(desktop_entries))
	install -D -m 644 -t $(share)/icons/hicolor/scalable/apps data/pipsink-demo.svg
	install -D -m 644 -t $(share)/metainfo data/org.pipsink.demo.metainfo.xml
	@echo "The plugin is in $(plugin_folder). Where that is not GStreamer's own folder, GST_PLUGIN_PATH has to name it."

# Removes what "make install" with the same PREFIX has installed.
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/pipsink-demo $(DESTDIR)$(plugin_folder)/libgstpipsink.so
	rm -f $(addprefix $(share)/pipsink/,$(wildcard pipelines/*.launch))
	rm -f $(share)/man/man1/pipsink-demo.1 $(share)/man/man7/pipsink.7
	rm -f $(foreach language,$(languages),$(call translation,$(language)))
	rm -f $(share)/bash-completion/completions/pipsink-demo $(share)/zsh/vendor-completions/_pipsink-demo
	rm -f $(share)/fish/vendor_completions.d/pipsink-demo.fish
	rm -f $(addprefix $(share)/applications/,$(desktop_entries)) $(share)/icons/hicolor/scalable/apps/pipsink-demo.svg
	rm -f $(share)/metainfo/org.pipsink.demo.metainfo.xml
	rmdir $(share)/pipsink/pipelines $(share)/pipsink 2>/dev/null || true

# Makes the Debian packages in .build/deb. docs/packaging.md says what they contain.
deb: package-dependencies install-build
	SWIFT="$(SWIFT)" PIPSINK_PRODUCTS="$(CURDIR)/$(install_products)" scripts/make-deb.sh .build/deb

test-deb: deb
	scripts/test-deb.sh .build/deb

# Builds the library's reference and articles, in .build/docs/site.
docs:
	@scripts/install-dependencies.sh --docs
	SWIFT=$(SWIFT) scripts/build-docs.sh .build/docs

clean:
	rm -rf .build $(DEMO_OUTPUT)
	$(MAKE) -s -C Benchmarks clean

dependencies:
	@scripts/install-dependencies.sh

demo-dependencies bench-dependencies test-dependencies package-dependencies: %-dependencies:
	@scripts/install-dependencies.sh --$*
