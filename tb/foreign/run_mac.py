# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds the printed MAC with Icarus and runs test_mac.py. Usage: run_mac.py FOLDER_WITH_VERILOG BUILD_FOLDER"""

import sys
from pathlib import Path

from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner


def main():
    verilog, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    sources = sorted(verilog.glob("*.v"))
    if not sources:
        sys.exit(f"run_mac.py: no Verilog in {verilog}: cargo run --bin gen-verilog -- --top mac")
    runner = get_runner("icarus")
    runner.build(sources=sources, hdl_toplevel="verbena_mac", build_dir=build, timescale=("1ns", "1ps"), always=True)
    sys.path.insert(0, str(Path(__file__).parent))
    results = runner.test(hdl_toplevel="verbena_mac", test_module="test_mac", test_dir=Path(__file__).parent, build_dir=build, results_xml=str(build / "results.xml"))
    tests, failures = get_results(results)
    print(f"mac-foreign: {tests} tests, {failures} failed")
    return 1 if failures or not tests else 0


sys.exit(main())
