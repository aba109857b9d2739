# SPDX-License-Identifier: MIT OR Apache-2.0
"""Example: a LiteX SoC with the Verbena HCA on its bus, its memory behind the same bus, an AXI4-Lite port for whoever drives it, and the
MAC side on pads. Writes the SoC's Verilog and file list: soc.py VERILOG_OF_THE_ENGINE OUT_FOLDER"""

import argparse
import sys
from pathlib import Path

from litex.build.generic_platform import Pins, Subsignal
from litex.build.lattice import LatticePlatform
from litex.gen import LiteXModule
from litex.soc.integration.builder import Builder
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCMini
from litex.soc.interconnect import axi
from migen import ClockDomain

sys.path.insert(0, str(Path(__file__).parent))
from verbena import REGISTER_BYTES, Verbena  # noqa: E402

MEMORY, MEMORY_BYTES = 0x4000_0000, 0x4000
HCA = 0x8000_0000
CLOCK = 156.25e6


def frame_pads(name):
    return (name, 0, Subsignal("data", Pins(64)), Subsignal("last_be", Pins(8)), Subsignal("error", Pins(8)),
            Subsignal("valid", Pins(1)), Subsignal("ready", Pins(1)), Subsignal("last", Pins(1)))


class Platform(LatticePlatform):
    """The part without a board: pads are for the simulation."""

    def __init__(self):
        io = [("clk", 0, Pins(1)), ("rst", 0, Pins(1)), ("irq", 0, Pins(1)), frame_pads("mac_rx"), frame_pads("mac_tx")]
        super().__init__("LFE5UM5G-85F-8BG756C", io, toolchain="trellis")


class Clocks(LiteXModule):
    def __init__(self, platform):
        self.cd_sys = ClockDomain()
        self.comb += [self.cd_sys.clk.eq(platform.request("clk")), self.cd_sys.rst.eq(platform.request("rst"))]


class VerbenaSoC(SoCMini):
    def __init__(self, platform, verilog):
        self.crg = Clocks(platform)
        super().__init__(platform, CLOCK, ident="Verbena on LiteX", bus_standard="axi", bus_data_width=64, bus_bursting=False)

        self.hca = Verbena(platform, verilog)
        self.bus.add_slave("hca", self.hca.control, SoCRegion(origin=HCA, size=REGISTER_BYTES, cached=False))
        self.bus.add_master("hca_dma", self.hca.dma)
        self.add_ram("host_memory", MEMORY, MEMORY_BYTES)

        # Who drives it: a processor, PCIe or UART bridge takes this place.
        host = axi.AXILiteInterface(data_width=32, address_width=32)
        platform.add_extension(host.get_ios("host"))
        self.comb += host.connect_to_pads(platform.request("host"), mode="slave")
        self.bus.add_master("host", host)

        # The MAC side: LiteEth's MAC core has the same fields.
        self.comb += platform.request("irq").eq(self.hca.ev.irq)
        rx, tx = platform.request("mac_rx"), platform.request("mac_tx")
        frames = self.hca.mac_rx
        self.comb += [frames.data.eq(rx.data), frames.last_be.eq(rx.last_be), frames.error.eq(rx.error), frames.valid.eq(rx.valid),
                      frames.last.eq(rx.last), rx.ready.eq(frames.ready)]
        frames = self.hca.mac_tx
        self.comb += [tx.data.eq(frames.data), tx.last_be.eq(frames.last_be), tx.error.eq(frames.error), tx.valid.eq(frames.valid),
                      tx.last.eq(frames.last), frames.ready.eq(tx.ready)]
        # The host's ordinary frames come back: an Ethernet driver takes this place.
        self.comb += self.hca.host_rx.connect(self.hca.host_tx)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verilog", help="folder that gen-verilog wrote")
    parser.add_argument("out", help="folder for the SoC")
    arguments = parser.parse_args()
    try:
        soc = VerbenaSoC(Platform(), Path(arguments.verilog).resolve())
    except FileNotFoundError as error:
        sys.exit(f"soc.py: {error}")
    Builder(soc, output_dir=arguments.out, compile_software=False).build(build_name="verbena_soc", run=False)


if __name__ == "__main__":
    main()
