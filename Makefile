# SPDX-License-Identifier: MIT OR Apache-2.0
# `make help` lists the targets. Each installs what it needs (named before) and nothing that is there already.

.PHONY: help demo test nightly interop mac-foreign lint bench loss-deep fuzz area fmax fmax-whole fmax-cu cu ecp5 ecp5-netlist litex formal mutants docs

help:
	@echo "make demo        a file goes from one Verilated engine's host memory to another's"
	@echo "make test        every test"
	@echo "make nightly     hours: 5,000 seeds between two engines, the longest tests, every factor of the bench"
	@echo "make interop     stock Linux RDMA tools in a Soft-RoCE guest (qemu) against the Verilated engine: docs/interop.md"
	@echo "make mac-foreign the MAC against cocotbext-eth (another's XGMII model), with Icarus; minutes"
	@echo "make lint        format, clippy, rustdoc, emitted Verilog"
	@echo "make bench       throughput, latency, simulation speed: docs/performance.md"
	@echo "make loss-deep   loss and reordering between two Verilated engines with 64 KiB of receive buffer: docs/order.md"
	@echo "make fuzz        100,000 random and mutated frames into the Verilated engine"
	@echo "make area        cells and RAM blocks per station (yosys)"
	@echo "make fmax        clock of each station alone (nextpnr-ecp5); make fmax-whole: of the engine; make fmax-cu: of the small engine in an HX8K (nextpnr-ice40)"
	@echo "make cu          the cu board: three placements, bitstream, report, and its self test on the bitstream turned back into Verilog (some 15 minutes)"
	@echo "make ecp5        the ecp5 board: three placements, bitstream, report (an hour or more)"
	@echo "make ecp5-netlist the system test of engine and MAC on their netlist (yosys), and with wrong LUTs in it"
	@echo "make litex       the engine in FuseSoC and in an example LiteX SoC, Verilated (fpga/litex); minutes"
	@echo "make formal      proofs on the emitted Verilog (SymbiYosys): docs/formal.md; about 15 minutes"
	@echo "make mutants     deliberate faults in it, each caught by a proof or a test; about 15 minutes"
	@echo "make docs        regenerate docs/registers.md and docs/testplan.md"

demo:
	@scripts/setup.sh sim
	cargo run --release --bin hca-sim -- demo

test:
	@scripts/setup.sh sim check
	cargo test --workspace

nightly:
	@scripts/setup.sh sim check
	cargo test -p verbena-tb --test stations -- --ignored
	VERBENA_DIFF=20 cargo test -p verbena-tb --test stations -- diff
	cargo test --release -p verbena-sim --test system -- --ignored
	cargo run --release --bin hca-sim -- chaos --seeds 0..5000
	cargo run --release --bin hca-sim -- bench --sweep target/sweep --full
	cargo run --release -p verbena-sim --features deep --bin hca-sim -- chaos --hold --seeds 0..500
	cargo run --release -p verbena-sim --features deep --bin hca-sim -- fuzz --reorder --frames 100000

interop:
	@scripts/setup.sh sim interop
	cargo run --release --bin hca-sim -- interop

mac-foreign:
	scripts/mac-foreign.sh

lint:
	@scripts/setup.sh sim
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
	cargo run --bin gen-verilog -- --preset tengig --check
	cargo run --bin gen-verilog -- --preset cu --check

bench:
	@scripts/setup.sh sim
	cargo run --release --bin hca-sim -- bench --markdown docs/performance.md

# What loss costs between engines with 64 KiB of receive buffer (gen-verilog --set roce_buffer=65536).
loss-deep:
	@scripts/setup.sh sim
	cargo run --release -p verbena-sim --features deep --bin hca-sim -- loss --engine verilated --verb write

fuzz:
	@scripts/setup.sh sim
	cargo run --release --bin hca-sim -- fuzz --frames 100000

area:
	@scripts/setup.sh fpga
	cargo run --bin fpga -- area

fmax:
	@scripts/setup.sh fpga
	cargo run --bin fpga -- fmax

fmax-whole:
	@scripts/setup.sh fpga
	cargo run --bin fpga -- fmax --whole --at-least 156.25

fmax-cu:
	@scripts/setup.sh fpga
	cargo run --bin fpga -- fmax --preset cu --whole --seed 1,2,3

cu:
	@scripts/setup.sh sim fpga
	cargo run --bin fpga -- build cu
	cargo run --bin fpga -- selftest --bitstream --external

ecp5:
	@scripts/setup.sh fpga
	cargo run --bin fpga -- build ecp5

ecp5-netlist:
	@scripts/setup.sh sim check
	cargo run --bin fpga -- netlist ecp5

litex:
	scripts/litex.sh

docs:
	cargo run --bin gen-docs

formal:
	@scripts/setup.sh sim formal
	cargo run --bin formal -- --markdown docs/formal.md

mutants:
	@scripts/setup.sh sim formal
	cargo run --bin mutants -- --markdown docs/formal.md
