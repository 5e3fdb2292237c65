# SPDX-License-Identifier: GPL-2.0
#
# What a person does here, by name; "make help" lists it.  Each target sets up
# what it needs: packages, the base, the kernel that it runs.  The work is done
# by the scripts in tools/.

# The kernel to run on and the part of the tests to run.
KERNEL ?= ours
T ?=
export KERNEL

target-ours := kernel
target-stock := stock
target-debug := debug
target-framepointer := framepointer
target-kcsan := kcsan
under-test := $(or $(target-$(KERNEL)),$(error KERNEL is ours, stock, debug, framepointer or kcsan))
# The storm runs on the debug kernel.
for-tests := $(under-test) $(if $(T),$(if $(findstring storm,$(T)),debug),debug)

help:
	@echo 'make run      build our kernel if needed, boot it, show probes at work'
	@echo 'make test     all tests; a part of them: make test T=kprobe'
	@echo 'make races    what hits share with changes, raced as a program for minutes'
	@echo 'make soak     the same, and a million mutated definitions of probe events'
	@echo 'make soak-storm  part of soak: a million changes of probes that are hit'
	@echo 'make soak-kernels  part of soak: the tests on debug, framepointer and kcsan'
	@echo 'make bench    cost of probes, ours and stock side by side'
	@echo 'make shell    a shell in the guest'
	@echo 'make kernel   build/linux (source), build/ours (built)'
	@echo 'make stock    build/linux-stock, build/stock: the base, same configuration'
	@echo 'make debug    build/debug: ours with lockdep, KASAN, kmemleak, ...'
	@echo 'make framepointer  build/framepointer: ours, with frame pointers for ORC'
	@echo 'make kcsan    build/kcsan: ours, watched for data races'
	@echo 'make check    style and static checks of our files'
	@echo 'make clean    remove all that was built (build/)'
	@echo 'KERNEL=debug (or another) runs run, test and shell on that kernel'

packages:
	@tools/build/packages

base: packages
	@tools/build/base

kernel debug framepointer kcsan: base
	@tools/build/lay ours
	@tools/build/kernel $(@:kernel=ours)

stock: base
	@tools/build/lay stock
	@tools/build/kernel stock

run: $(under-test)
	@tools/run/demo

shell: $(under-test)
	@tools/vm/run --interactive --timeout 86400 -- 'exec bash -i'

test: $(for-tests)
	@tools/test/run $(T)

stock-results: stock
	@tools/test/run --stock-results $(T)

races: base
	@tools/build/lay ours
	@tools/races/run --times 50

# Its figures stay in build/soak.txt.
LINES ?= 1000000
soak: debug races
	@tools/fuzz/run --kernel debug --guests $$(nproc) --lines $(LINES) \
		--timeout 28800 --log build/soak.txt

# Its figures stay in build/soak-storm.txt.
soak: soak-storm
soak-storm: kernel debug
	@tools/stress/soak build/soak-storm.txt

# Its figures stay in build/soak-kernels.txt.
soak: soak-kernels
soak-kernels: debug framepointer kcsan
	@tools/test/soak build/soak-kernels.txt

bench: kernel stock
	@tools/bench/run

# Modules are checked against our kernel, which also knows who includes what.
check: kernel
	@tools/build/lay ours
	@tools/check/run

clean:
	rm -rf build

.PHONY: help packages base kernel debug framepointer kcsan stock run shell \
	test stock-results races soak soak-storm soak-kernels bench check clean
.NOTPARALLEL:
