# PipSink's commands. Each sets up what it needs by itself.

SWIFT ?= swift
SWIFT_SOURCES = Package.swift Sources Tests examples
DEMO_OUTPUT ?= demo-output
SOAK_SECONDS ?= 300

# One test at a time: most run pipelines and programs of their own, with deadlines that two cores must meet.
test_options = --no-parallel

# Warnings in our own code fail what CI runs.
checked = PIPSINK_WARNINGS_AS_ERRORS=1
sanitizer_environment = \
  SWIFT_BACKTRACE=enable=no \
  TSAN_OPTIONS="suppressions=$(CURDIR)/scripts/tsan.suppressions ignore_noninstrumented_modules=1 halt_on_error=1" \
  ASAN_OPTIONS="detect_leaks=0 quarantine_size_mb=8"

demo_program = "$$($(SWIFT) build -c release --show-bin-path)/pipsink-demo"

.PHONY: demo test soak lint format bench bench-results test-tsan test-asan clean dependencies test-dependencies

demo: dependencies
	$(SWIFT) build -c release --product pipsink-demo
	mkdir -p $(DEMO_OUTPUT)
	$(demo_program) play --pipeline pipelines/call-rtp.launch --duration 6 \
	  --at 1=snapshot --at 2=pip:remote-2 --at 3=snapshot --at 4=normal --at 5=snapshot \
	  --snapshots $(DEMO_OUTPUT) --report $(DEMO_OUTPUT)/report.json

test: test-dependencies lint
	$(checked) $(SWIFT) test $(test_options)
	$(checked) $(SWIFT) test $(test_options) -c release -Xswiftc -enable-testing --scratch-path .build/optimized --filter AllocationTests

# Five minutes of a call in which fifty people come and go, with the times that those who stay see.
soak: test-dependencies
	PIPSINK_SOAK_SECONDS=$(SOAK_SECONDS) $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build/optimized --filter SoakTests

test-tsan: test-dependencies
	$(checked) $(sanitizer_environment) $(SWIFT) test $(test_options) --sanitize=thread --scratch-path .build/tsan

test-asan: test-dependencies
	$(checked) $(sanitizer_environment) $(SWIFT) test $(test_options) --sanitize=address --scratch-path .build/asan

lint:
	$(SWIFT) format lint --strict --recursive $(SWIFT_SOURCES)

format:
	$(SWIFT) format --in-place --recursive $(SWIFT_SOURCES)

bench: dependencies
	$(SWIFT) build -c release --product pipsink-demo
	$(MAKE) -s -C Benchmarks
	$(demo_program) bench route
	$(demo_program) bench kernels

# Everything, for half an hour, into Benchmarks/results and the documents. Windows on Wayland only with WAYLAND_DISPLAY.
bench-results: test-dependencies
	$(SWIFT) build -c release --product pipsink-demo
	$(MAKE) -s -C Benchmarks
	$(demo_program) bench route --streams 1,4,16,64 --json Benchmarks/results/route.json --plot docs/images/route.svg
	$(demo_program) bench memory --json Benchmarks/results/memory.json
	$(demo_program) bench kernels --json Benchmarks/results/kernels.json
	$(demo_program) bench present --rounds 3 --seconds 1.5 --json Benchmarks/results/present.json
	$(demo_program) bench switch --json Benchmarks/results/switch.json
	$(demo_program) bench scale --rounds 3 --json Benchmarks/results/scale.json
	$(demo_program) bench table --into README.md $(addprefix Benchmarks/results/,route.json memory.json present.json switch.json)
	$(demo_program) bench table --into docs/benchmarks.md $(addprefix Benchmarks/results/,kernels.json scale.json)

clean:
	rm -rf .build $(DEMO_OUTPUT)
	$(MAKE) -s -C Benchmarks clean

dependencies:
	@scripts/install-dependencies.sh

test-dependencies:
	@scripts/install-dependencies.sh --test
