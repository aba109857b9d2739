#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The MAC against cocotbext-eth with Icarus. Where they can't be installed it says so and ends with 0: skipped; set FOREIGN=required to make that an error.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${CARGO_TARGET_DIR:-target}/foreign
skip() {
    echo "mac-foreign: SKIPPED: $1" >&2
    [ "${FOREIGN:-}" = required ] && exit 1
    exit 0
}
command -v iverilog >/dev/null || skip "no Icarus Verilog (Debian, Ubuntu: apt-get install iverilog)"
command -v python3 >/dev/null || skip "no python3"
python=$folder/venv/bin/python
if ! "$python" -c 'import cocotb, cocotbext.eth' 2>/dev/null; then
    echo "mac-foreign: installing cocotb 2.1.0, cocotbext-eth 0.1.28 from PyPI into $folder/venv"
    python3 -m venv "$folder/venv" || skip "python3 -m venv doesn't work (Debian, Ubuntu: apt-get install python3-venv)"
    "$python" -m pip install -q --disable-pip-version-check cocotb==2.1.0 cocotbext-eth==0.1.28 || skip "pip can't install cocotb"
fi
cargo run -q --bin gen-verilog -- --top mac --out "$folder/verilog"
"$python" tb/foreign/run_mac.py "$folder/verilog" "$folder/build"
