# SPDX-License-Identifier: MIT OR Apache-2.0
"""The MAC against an XGMII model that isn't ours: cocotbext-eth. Run it by `make mac-foreign`.

Each way: frames of many lengths back to back, both start lanes, deficit idle count on both sides. The foreign sink says what it saw;
gaps and start lanes are read from it too.
"""

import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotbext.eth import XgmiiFrame, XgmiiSink, XgmiiSource

LONGEST = 4200
# A byte's time on the wire, ps.
BYTE = 800


def frame_of(rng, length):
    data = bytearray(rng.randbytes(length))
    data[12:14] = b"\x08\x00"  # not MAC control by chance
    return bytes(data)


async def start(dut):
    cocotb.start_soon(Clock(dut.clock, 6.4, unit="ns").start())
    source = XgmiiSource(dut.xgmii_rxd, dut.xgmii_rxc, dut.clock)
    for name in ("s_data", "s_keep", "s_valid", "s_last", "s_user"):
        getattr(dut, name).value = 0
    dut.pause_enable.value = 1
    dut.reset.value = 1
    for _ in range(8):
        await RisingEdge(dut.clock)
    dut.reset.value = 0
    # Icarus runs `always @(*)` at the first change of what it reads: before the first frame some masks are X there.
    await send(dut, [bytes(60)])
    for _ in range(40):
        await RisingEdge(dut.clock)
    return source, XgmiiSink(dut.xgmii_txd, dut.xgmii_txc, dut.clock)


async def send(dut, frames):
    """Beats without a pause, as the engine gives them."""
    for frame in frames:
        for at in range(0, len(frame), 8):
            beat = frame[at : at + 8]
            dut.s_data.value = int.from_bytes(beat, "little")
            dut.s_keep.value = (1 << len(beat)) - 1
            dut.s_last.value = int(at + 8 >= len(frame))
            dut.s_valid.value = 1
            await RisingEdge(dut.clock)
            while not int(dut.s_ready.value):
                await RisingEdge(dut.clock)
    dut.s_valid.value = 0


async def receive(dut, count):
    frames, current = [], bytearray()
    while len(frames) < count:
        await RisingEdge(dut.clock)
        if int(dut.m_valid.value):
            keep = int(dut.m_keep.value)
            current += int(dut.m_data.value).to_bytes(8, "little")[: keep.bit_count()]
            if int(dut.m_last.value):
                frames.append((bytes(current), bool(int(dut.m_user.value))))
                current = bytearray()
    return frames


def lengths(rng):
    """All tails and both parities, short and long; with LENGTHS=all each from 60 to 4,200, which takes an hour."""
    if os.environ.get("LENGTHS") == "all":
        return list(range(60, LONGEST + 1))
    return list(range(60, 140)) + [rng.randrange(140, LONGEST) for _ in range(20)] + list(range(LONGEST - 8, LONGEST + 1))


@cocotb.test()
async def transmit(dut):
    _, sink = await start(dut)
    rng = random.Random(1)
    frames = [frame_of(rng, n) for n in lengths(rng)]
    rng.shuffle(frames)
    cocotb.start_soon(send(dut, frames))
    lanes, starts, ends, gaps = set(), [], [], []
    for number, frame in enumerate(frames):
        got = await sink.recv()
        assert bytes(got.get_payload()) == frame, f"frame {number} of {len(frame)} bytes"
        assert got.check_fcs(), f"FCS of frame {number}"
        lanes.add(got.start_lane)
        starts.append(got.sim_time_start // BYTE)
        ends.append(got.sim_time_end // BYTE)
    for number, (end, begin) in enumerate(zip(ends, starts[1:])):
        gap = begin - end
        assert 9 <= gap <= 15, f"gap of {gap} bytes behind frame {number}"
        gaps.append(gap)
    assert lanes == {0, 4}, lanes
    # Deficit idle count: 12 on average, at most 3 bytes owed.
    assert 0 <= 12 * len(gaps) - sum(gaps) <= 3, sum(gaps) / len(gaps)


@cocotb.test()
async def receive_frames(dut):
    source, _ = await start(dut)
    rng = random.Random(2)
    frames = [frame_of(rng, n) for n in lengths(rng)]
    rng.shuffle(frames)
    for frame in frames:
        source.send_nowait(XgmiiFrame.from_payload(frame))
    got = await receive(dut, len(frames))
    for number, (want, (frame, bad)) in enumerate(zip(frames, got)):
        assert frame == want and not bad, f"frame {number} of {len(want)} bytes"


@cocotb.test()
async def receive_in_the_upper_half(dut):
    source, _ = await start(dut)
    source.force_offset_start = True
    rng = random.Random(3)
    frames = [frame_of(rng, n) for n in range(60, 110)]
    for frame in frames:
        source.send_nowait(XgmiiFrame.from_payload(frame))
    got = await receive(dut, len(frames))
    assert got == [(frame, False) for frame in frames]


@cocotb.test()
async def receive_bad_frames(dut):
    source, _ = await start(dut)
    rng = random.Random(4)
    frames = []
    for number in range(40):
        frame = frame_of(rng, rng.randrange(60, 300))
        sent = XgmiiFrame.from_payload(frame)
        if number % 4 == 1:
            sent.data[20 + number] ^= 1 << (number % 8)
        if number % 4 == 3:
            sent.normalize()
            sent.data[-5], sent.ctrl[-5] = 0xFE, 1
        source.send_nowait(sent)
        frames.append((frame, number % 2 == 1))
    got = await receive(dut, len(frames))
    for number, ((frame, want), (seen, bad)) in enumerate(zip(frames, got)):
        assert bad == want, f"frame {number}"
        assert bad or seen == frame, f"frame {number}"


@cocotb.test()
async def transmit_at_line_rate(dut):
    """Frames of 60 bytes: 84 bytes each on the wire."""
    _, sink = await start(dut)
    rng = random.Random(5)
    frames = [frame_of(rng, 60) for _ in range(60)]
    cocotb.start_soon(send(dut, frames))
    starts = []
    for _ in frames:
        got = await sink.recv()
        assert got.check_fcs()
        starts.append(got.sim_time_start // BYTE)
    assert starts[-2] - starts[0] == 58 * 84, starts[-2] - starts[0]
