#!/usr/bin/env bash
# Builds static/pds.wasm, the WebAssembly module of the page. With --check it changes nothing. Then it compares the answers of
# the committed module in Node with those of the native code, and, with the compiler that built the module, its bytes with
# those of a new build.
#
# Building needs `rustup target add wasm32-unknown-unknown`. A toolchain without rustup can name what else it needs in CARGO_FLAGS.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly committed=crates/pds-page/static/pds.wasm compiler=crates/pds-page/static/pds.wasm.rustc
readonly target=wasm32-unknown-unknown most_bytes=$((300 * 1024))

# Compilers may order the same code differently. Answers are the same with all of them.
if [[ ${1:-} == --check ]] && ! command -v node >/dev/null; then
  echo "answers not compared: there is no Node"
elif [[ ${1:-} == --check ]]; then
  tests=crates/pds-page/tests
  mkdir -p target
  (unset RUSTC RUSTFLAGS; cargo run --quiet --locked --package pds-page --example answers) <$tests/requests.jsonl >target/page-native
  node $tests/module.mjs <$tests/requests.jsonl >target/page-module
  if ! cmp target/page-native target/page-module; then
    echo "the committed module does not answer as the sources do: run $0" >&2
    exit 1
  fi
  echo "the module answers $(wc -l <target/page-native) requests as the native code does"
fi

rustc=${RUSTC:-rustc}
if [[ -z ${CARGO_FLAGS:-} && ! -d $("$rustc" --print target-libdir --target $target) ]]; then
  echo "bytes not compared: the toolchain has no $target (rustup target add $target)"
  [[ ${1:-} == --check ]] && exit 0 || exit 2
fi
version=$("$rustc" --version)
if [[ ${1:-} == --check && $version != "$(cat $compiler)" ]]; then
  echo "bytes not compared: the module was built by $(cat $compiler), and this is $version: their bytes differ"
  exit 0
fi

# Paths of this machine are no part of the module. A folder of its own keeps two compilers apart.
sysroot=$("$rustc" --print sysroot)
export CARGO_TARGET_DIR=${PDS_PAGE_TARGET:-target/page}
export RUSTFLAGS="--remap-path-prefix=$PWD= --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo --remap-path-prefix=$sysroot=rust"
# shellcheck disable=SC2086 # the flags are words
cargo rustc --quiet --locked --package pds-page --lib --crate-type cdylib --profile page --target $target ${CARGO_FLAGS:-}
built=$CARGO_TARGET_DIR/$target/page/pds_page.wasm

bytes=$(gzip -9 -c "$built" | wc -c)
echo "$(wc -c <"$built") bytes, $bytes compressed"
if ((bytes > most_bytes)); then
  echo "the module is larger than $most_bytes bytes compressed" >&2
  exit 1
fi
if [[ ${1:-} == --check ]]; then
  cmp "$built" $committed || { echo "the committed module is not what the sources give: run $0" >&2; exit 1; }
else
  cp "$built" $committed
  echo "$version" >$compiler
fi
