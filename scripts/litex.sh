#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The engine dropped into others' flows: FuseSoC lints it from its core file, and the example LiteX SoC (fpga/litex) is built and runs Verilated.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh sim
folder=$(realpath -m "${CARGO_TARGET_DIR:-target}/litex")
mkdir -p "$folder"
python=$folder/venv/bin/python
packages="migen==0.10.0 litex==2024.12 fusesoc==2.4.7"
if ! "$python" -c 'import migen, litex, fusesoc' 2>/dev/null; then
    echo "litex: installing $packages from PyPI into $folder/venv"
    python3 -m venv "$folder/venv" || { echo "litex: python3 -m venv doesn't work (Debian, Ubuntu: apt-get install python3-venv)" >&2; exit 2; }
    # shellcheck disable=SC2086
    "$python" -m pip install -q --disable-pip-version-check $packages
fi
cargo run -q --bin gen-verilog -- --preset tengig --out "$folder/engine"
cd "$folder"
echo "litex: FuseSoC, target lint"
venv/bin/fusesoc --cores-root engine run --target lint --work-root "$folder/fusesoc" verbena:roce:verbena_hca >fusesoc.log 2>&1 || { cat fusesoc.log >&2; exit 1; }
example=$OLDPWD/fpga/litex
"$python" "$example/soc.py" engine soc >soc.log 2>&1 || { tail -20 soc.log >&2; exit 1; }
echo "litex: the SoC is written, Verilator builds it"
mkdir -p build
cp soc/gateware/*.init build/
verilator --cc --exe --build -j 2 -O3 -CFLAGS -O1 -Wno-fatal -Wno-lint -Wno-style --x-assign 0 --top-module verbena_soc --Mdir build -Iengine -CFLAGS "-I$folder/engine" \
    $(sed 's/^/engine\//' engine/verbena_hca.f) soc/gateware/verbena_soc.v "$example/test_soc.cpp" >build.log 2>&1 || { tail -20 build.log >&2; exit 1; }
cd build
./Vverbena_soc
