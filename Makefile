# SPDX-License-Identifier: Apache-2.0
# A thin front: tools/setup installs packages, the CMake presets build, ctest tests.
MODELS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/rlx/models
DEMO   := $(MODELS)/gemma-3-270m-q4_k_m.gguf

.PHONY: demo test build asan format check-format setup clean

demo: build                 ## build Release, get the demo model, continue a text, show the rates
	tools/fetch-models gemma
	build/release/rlx run $(DEMO) --temp 0 -n 64 -p "The three most important inventions of the nineteenth century were"

test: build asan            ## build everything and run every test; ctest's closing line comes last
	tools/fetch-models gemma smollm2
	ctest --test-dir build/asan --label-regex 'unit|error|ir|fuzz' --output-on-failure
	ctest --test-dir build/release --output-on-failure

build: setup                ## build/release/rlx
	cmake --preset release
	cmake --build --preset release

asan: setup                 ## the same with AddressSanitizer and UBSan, in build/asan
	cmake --preset asan
	cmake --build --preset asan

setup:
	tools/setup

format:                     ## rewrite all sources in the project's format
	git ls-files 'src/*.h' 'src/*.cpp' 'tests/*.h' 'tests/*.cpp' 'bench/*.cpp' | xargs clang-format -i

check-format:
	git ls-files 'src/*.h' 'src/*.cpp' 'tests/*.h' 'tests/*.cpp' 'bench/*.cpp' | xargs clang-format --dry-run -Werror

clean:
	rm -rf build
