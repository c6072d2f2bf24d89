#!/bin/sh
# RUSTC_WORKSPACE_WRAPPER of `make fuzz`: our own crates report which branches they take, so that the fuzzer keeps inputs
# that reach new ones. Dependencies are those of the ordinary build. Build scripts run as they are.
case " $* " in
*" build_script_"*) exec "$@" ;;
esac
link=
case " $* " in
*" --crate-name portico_fuzz "*" bin "*) link="-Lnative=$FUZZ_ENGINE -lstatic=fuzzer -lstdc++" ;;
esac
# shellcheck disable=SC2086 # several arguments
exec "$@" $link -Cpasses=sancov-module \
	-Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
	-Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares
