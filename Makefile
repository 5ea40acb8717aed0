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

.PHONY: demo test soak lint format bench bench-present test-tsan test-asan clean dependencies test-dependencies

demo: dependencies
	$(SWIFT) build -c release --product pipsink-demo
	mkdir -p $(DEMO_OUTPUT)
	"$$($(SWIFT) build -c release --show-bin-path)/pipsink-demo" play --pipeline pipelines/call-rtp.launch --duration 6 \
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
	"$$($(SWIFT) build -c release --show-bin-path)/pipsink-demo" bench frames
	"$$($(SWIFT) build -c release --show-bin-path)/pipsink-demo" bench kernels

bench-present: test-dependencies
	$(SWIFT) build -c release --product pipsink-demo
	scripts/bench-present.sh "$$($(SWIFT) build -c release --show-bin-path)/pipsink-demo"

clean:
	rm -rf .build $(DEMO_OUTPUT)

dependencies:
	@scripts/install-dependencies.sh

test-dependencies:
	@scripts/install-dependencies.sh --test
