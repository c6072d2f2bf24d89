#!/usr/bin/env bash
# Builds the fuzzer and runs each target for this many seconds, on all cores: tests/fuzz/run.sh SECONDS [TARGET…]
# FUZZ_SEED makes a run that another one can repeat; without it each begins elsewhere.
# Inputs that fail are left in target/fuzz/TARGET; what was found besides the committed corpus in target/fuzz/TARGET/corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=$1
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(pictures restore state superjson tokens)
built=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')

cargo build --quiet --manifest-path tests/fuzz/engine/Cargo.toml --target-dir "$built/fuzz-engine"
FUZZ_ENGINE=$(dirname "$(find "$built/fuzz-engine" -name libfuzzer.a | head -n 1)")
export FUZZ_ENGINE
RUSTC_WORKSPACE_WRAPPER=$PWD/tests/fuzz/rustc.sh \
	cargo build --workspace --bin portico-fuzz --features portico-fuzz/engine
# The next ordinary build puts no binary of this name there.
program=$built/debug/portico-fuzz

fuzz() {
	local found=$built/fuzz/$1 log=$built/fuzz/$1.log
	mkdir -p "$found/corpus"
	if FUZZ_TARGET=$1 "$program" "$found/corpus" "tests/fuzz/corpus/$1" -max_total_time="$seconds" \
		-seed="${FUZZ_SEED:-0}" -timeout=60 \
		-rss_limit_mb=4096 -max_len=65536 -artifact_prefix="$found/" -print_final_stats=1 >"$log" 2>&1; then
		echo "$1: $(grep -c NEW "$log" || true) new inputs, $(sed -n 's/stat::number_of_executed_units: *//p' "$log") runs"
	else
		tail -n 40 "$log"
		echo "$1: FAILED; the input is in $found, the log in $log. A test with it comes with the mend." >&2
		return 1
	fi
}

failed=0
running=()
for target in "${targets[@]}"; do
	if [ ${#running[@]} -ge "$(nproc)" ]; then
		wait "${running[0]}" || failed=1
		running=("${running[@]:1}")
	fi
	fuzz "$target" &
	running+=($!)
done
for process in "${running[@]}"; do
	wait "$process" || failed=1
done
exit $failed
