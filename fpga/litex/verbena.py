# SPDX-License-Identifier: MIT OR Apache-2.0
"""The Verbena HCA as a LiteX module: registers, DMA and MAC side as LiteX interfaces. Verilog by `cargo run --bin gen-verilog`."""

from pathlib import Path

from litex.gen import LiteXModule
from litex.soc.interconnect import axi, stream
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel
from migen import ClockSignal, If, Instance, ResetSignal, Signal

OUTSTANDING = 32
"""Bursts of the engine that may be under way on the bus, each direction."""

REGISTER_BYTES = 1 << 21
"""Bytes of the register window, doorbells included."""

DATA_BYTES = 8
"""Bytes of a beat, memory and MAC side, preset tengig."""


def frame_description():
    """Ethernet frames without FCS: data 64 bits, first byte lowest; last_be one-hot, the last byte of the last beat; error on the last
    beat. The fields are those of LiteEth's eth_phy_description(64), so that its MAC core connects by name."""
    return stream.EndpointDescription([("data", 64), ("last_be", 8), ("error", 8)])


class OneId(LiteXModule):
    """LiteX's bus carries one bit of ID: every burst goes out with ID 0, so answers come in order (AXI4, A5.3), and each gets back the ID
    that its burst had."""

    def __init__(self, master, slave):
        for address, answer in (("aw", "b"), ("ar", "r")):
            out, back = getattr(slave, address), getattr(slave, answer)
            begun, ended = getattr(master, address), getattr(master, answer)
            ids = stream.SyncFIFO([("id", len(begun.id))], OUTSTANDING)
            self.submodules += ids
            self.comb += [
                begun.connect(out, omit={"valid", "ready", "id"}),
                out.valid.eq(begun.valid & ids.sink.ready),
                begun.ready.eq(out.ready & ids.sink.ready),
                ids.sink.valid.eq(begun.valid & out.ready),
                ids.sink.id.eq(begun.id),
                back.connect(ended, omit={"id"}),
                ended.id.eq(ids.source.id),
                ids.source.ready.eq(back.valid & back.ready & (back.last if answer == "r" else 1)),
            ]
        self.comb += master.w.connect(slave.w)


class Verbena(LiteXModule):
    """A RoCEv2 host channel adapter, preset tengig, in the sys clock domain.

    control    AXI4-Lite slave, 32 bits: registers, tables, doorbells; REGISTER_BYTES long (docs/registers.md)
    dma        AXI4 master, 64 bits. The bus has 32 address bits where the engine has 64: register memory below 4 GiB only
    mac_rx     frames from the MAC; ready never falls once out of reset
    mac_tx     frames to the MAC; a frame once begun never starves
    host_rx    ordinary Ethernet for the host's software: what isn't RoCE for this engine
    host_tx    ordinary Ethernet of the host's software
    ev.events  level interrupt: the event queue isn't empty
    """

    def __init__(self, platform, verilog):
        self.control = axi.AXILiteInterface(data_width=32, address_width=32)
        self.engine_dma = axi.AXIInterface(data_width=64, address_width=32, id_width=3)
        self.dma = axi.AXIInterface(data_width=64, address_width=32)
        self.ids = OneId(self.engine_dma, self.dma)
        self.mac_rx = stream.Endpoint(frame_description())
        self.mac_tx = stream.Endpoint(frame_description())
        self.host_rx = stream.Endpoint(frame_description())
        self.host_tx = stream.Endpoint(frame_description())
        self.ev = EventManager()
        self.ev.events = EventSourceLevel(description="The event queue isn't empty.")
        self.ev.finalize()

        ports = {"i_clk": ClockSignal("sys"), "i_rst": ResetSignal("sys"), "o_irq": self.ev.events.trigger}
        ports.update(self._control_ports())
        ports.update(self._dma_ports())
        ports.update(self._frames_in("s_axis_mac_rx", self.mac_rx, error=True))
        ports.update(self._frames_in("s_axis_host_tx", self.host_tx, error=False))
        ports.update(self._frames_out("m_axis_mac_tx", self.mac_tx, error=True))
        ports.update(self._frames_out("m_axis_host_rx", self.host_rx, error=False))
        self.specials += Instance("verbena_hca", **ports)
        self.add_sources(platform, verilog)

    @staticmethod
    def add_sources(platform, verilog):
        """Adds the files of gen-verilog's list to the build. Fails with a message if the engine hasn't been generated."""
        folder = Path(verilog)
        files = folder / "verbena_hca.f"
        if not files.is_file():
            raise FileNotFoundError(f"no {files}: generate the engine with: cargo run --bin gen-verilog -- --out {folder}")
        for line in files.read_text().split():
            platform.add_source(str(folder / line), language="verilog")

    def _control_ports(self):
        bus = self.control
        bits = REGISTER_BYTES.bit_length() - 1
        return {
            "i_s_axil_awaddr": bus.aw.addr[:bits], "i_s_axil_awvalid": bus.aw.valid, "o_s_axil_awready": bus.aw.ready,
            "i_s_axil_wdata": bus.w.data, "i_s_axil_wstrb": bus.w.strb, "i_s_axil_wvalid": bus.w.valid, "o_s_axil_wready": bus.w.ready,
            "o_s_axil_bresp": bus.b.resp, "o_s_axil_bvalid": bus.b.valid, "i_s_axil_bready": bus.b.ready,
            "i_s_axil_araddr": bus.ar.addr[:bits], "i_s_axil_arvalid": bus.ar.valid, "o_s_axil_arready": bus.ar.ready,
            "o_s_axil_rdata": bus.r.data, "o_s_axil_rresp": bus.r.resp, "o_s_axil_rvalid": bus.r.valid, "i_s_axil_rready": bus.r.ready,
        }

    def _dma_ports(self):
        bus = self.engine_dma
        write, read = Signal(64), Signal(64)
        self.comb += [bus.aw.addr.eq(write[:32]), bus.ar.addr.eq(read[:32])]
        ports = {
            "o_m_axi_awaddr": write, "o_m_axi_araddr": read,
            "o_m_axi_wdata": bus.w.data, "o_m_axi_wstrb": bus.w.strb, "o_m_axi_wlast": bus.w.last, "o_m_axi_wvalid": bus.w.valid,
            "i_m_axi_wready": bus.w.ready,
            "i_m_axi_bid": bus.b.id, "i_m_axi_bresp": bus.b.resp, "i_m_axi_bvalid": bus.b.valid, "o_m_axi_bready": bus.b.ready,
            "i_m_axi_rid": bus.r.id, "i_m_axi_rdata": bus.r.data, "i_m_axi_rresp": bus.r.resp, "i_m_axi_rlast": bus.r.last,
            "i_m_axi_rvalid": bus.r.valid, "o_m_axi_rready": bus.r.ready,
        }
        for name, channel in (("aw", bus.aw), ("ar", bus.ar)):
            ports.update({
                f"o_m_axi_{name}id": channel.id, f"o_m_axi_{name}len": channel.len, f"o_m_axi_{name}size": channel.size,
                f"o_m_axi_{name}burst": channel.burst, f"o_m_axi_{name}valid": channel.valid, f"i_m_axi_{name}ready": channel.ready,
            })
        return ports

    def _frames_in(self, port, frames, error):
        keep = Signal(DATA_BYTES)
        # A beat that isn't the last is full; of the last one the byte of last_be and those before it count.
        self.comb += keep.eq(2**DATA_BYTES - 1)
        self.comb += If(frames.last & (frames.last_be != 0), keep.eq((frames.last_be << 1) - 1))
        ports = {
            f"i_{port}_tdata": frames.data, f"i_{port}_tkeep": keep, f"i_{port}_tvalid": frames.valid, f"o_{port}_tready": frames.ready,
            f"i_{port}_tlast": frames.last,
        }
        if error:
            ports[f"i_{port}_tuser"] = frames.error != 0
        return ports

    def _frames_out(self, port, frames, error):
        keep, bad = Signal(DATA_BYTES), Signal()
        self.comb += If(frames.last, frames.last_be.eq(keep ^ (keep >> 1)))
        ports = {
            f"o_{port}_tdata": frames.data, f"o_{port}_tkeep": keep, f"o_{port}_tvalid": frames.valid, f"i_{port}_tready": frames.ready,
            f"o_{port}_tlast": frames.last,
        }
        if error:
            ports[f"o_{port}_tuser"] = bad
            self.comb += If(frames.last & bad, frames.error.eq(2**DATA_BYTES - 1))
        return ports
