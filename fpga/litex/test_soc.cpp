// SPDX-License-Identifier: MIT OR Apache-2.0
// The example SoC, Verilated: the engine found over the SoC's bus, an event written by its DMA into the SoC's memory, frames from MAC to MAC by
// way of the host side. Addresses come from verbena_registers.h. Ends with 0 only if all held.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "Vverbena_soc.h"
#include "verbena_registers.h"
#include "verilated.h"

namespace {

constexpr uint32_t kMemory = 0x40000000, kHca = 0x80000000;
constexpr uint32_t kEnable = 1, kReady = 1, kBadDoorbell = 4, kMarker = 0xa5a5a5a5;
constexpr uint64_t kMostCycles = 200000;

Vverbena_soc *soc;
uint64_t cycles;

[[noreturn]] void fail(const char *what, uint64_t seen) {
    std::printf("litex: FAILED: %s, seen %#llx, after %llu cycles\n", what, (unsigned long long)seen, (unsigned long long)cycles);
    std::exit(1);
}

// Inputs change and outputs are looked at before the rising edge.
void clock_edge() {
    soc->clk = 1;
    soc->eval();
    soc->clk = 0;
    soc->eval();
    if (++cycles > kMostCycles) fail("the simulation has no end", 0);
}

uint32_t read(uint32_t address) {
    soc->host_araddr = address;
    soc->host_arvalid = 1;
    soc->host_rready = 1;
    for (bool asked = false;;) {
        soc->eval();
        const bool accepted = !asked && soc->host_arready;
        if (soc->host_rvalid) {
            const uint32_t data = soc->host_rdata;
            if (soc->host_rresp) fail("a read is refused at address", address);
            clock_edge();
            soc->host_arvalid = soc->host_rready = 0;
            return data;
        }
        clock_edge();
        if (accepted) soc->host_arvalid = 0, asked = true;
    }
}

void write(uint32_t address, uint32_t data) {
    soc->host_awaddr = address;
    soc->host_wdata = data;
    soc->host_wstrb = 15;
    soc->host_awvalid = soc->host_wvalid = soc->host_bready = 1;
    for (;;) {
        soc->eval();
        const bool address_taken = soc->host_awready, data_taken = soc->host_wready, answered = soc->host_bvalid;
        if (answered && soc->host_bresp) fail("a write is refused at address", address);
        clock_edge();
        if (address_taken) soc->host_awvalid = 0;
        if (data_taken) soc->host_wvalid = 0;
        if (answered) break;
    }
    soc->host_bready = 0;
}

void the_engine_is_found() {
    while (!(read(kHca + VERBENA_REG_STATUS) & kReady)) {
    }
    const uint32_t id = read(kHca + VERBENA_REG_ID);
    if (id != 0x56424e41) fail("the engine's ID", id);
    std::printf("litex: the engine is found and ready after %llu cycles\n", (unsigned long long)cycles);
}

// A doorbell of a QP that doesn't exist is refused by an event, which comes through the engine's DMA.
void an_event_lands_in_the_socs_memory() {
    const uint32_t ring = kMemory + 0x400;
    for (uint32_t word = 0; word < 4; word++) write(ring + 4 * word, kMarker);
    write(kHca + VERBENA_REG_EQ_BASE_LOW, ring);
    write(kHca + VERBENA_REG_EQ_BASE_HIGH, 0);
    write(kHca + VERBENA_REG_EQ_CONTROL, 1u << 31 | 2);
    write(kHca + VERBENA_REG_CONTROL, kEnable);
    write(kHca + VERBENA_DOORBELLS + 5 * VERBENA_DOORBELLS_STRIDE + 4, 3);
    while (read(ring + 12) == kMarker) {
    }
    uint32_t words[4];
    for (uint32_t word = 0; word < 4; word++) words[word] = read(ring + 4 * word);
    if ((words[0] & 0xff) != kBadDoorbell || words[0] >> 8 != 5) fail("the event", words[0]);
    if (read(kHca + VERBENA_REG_EQ_PRODUCER) != 1) fail("the event queue's producer", read(kHca + VERBENA_REG_EQ_PRODUCER));
    std::printf("litex: event %08x %08x %08x %08x written by the engine's DMA\n", words[0], words[1], words[2], words[3]);
}

// What isn't RoCE goes to the host port; the example sends it back, so it comes out at the MAC side.
void frames_pass_by_the_host_side() {
    write(kHca + VERBENA_REG_MAC_HIGH, 0x0256);
    write(kHca + VERBENA_REG_MAC_LOW, 0x42000001);
    for (size_t length = 60; length <= 68; length++) {
        std::vector<uint8_t> frame = {2, 0x56, 0x42, 0, 0, 1, 2, 0x56, 0x42, 0, 0, 2, 0x88, 0xb5}, back;
        while (frame.size() < length) frame.push_back(uint8_t(frame.size() * 7));
        size_t sent = 0;
        soc->mac_tx_ready = 1;
        for (bool ended = false; !ended;) {
            const size_t beat = frame.size() - sent < 8 ? frame.size() - sent : 8;
            soc->mac_rx_valid = beat > 0;
            uint64_t data = 0;
            if (beat) std::memcpy(&data, &frame[sent], beat);
            soc->mac_rx_data = data;
            soc->mac_rx_last = sent + beat == frame.size();
            soc->mac_rx_last_be = beat ? 1 << (beat - 1) : 0;
            soc->eval();
            const bool taken = soc->mac_rx_valid && soc->mac_rx_ready;
            if (soc->mac_tx_valid) {
                const uint64_t out = soc->mac_tx_data;
                const int bytes = soc->mac_tx_last ? 32 - __builtin_clz(soc->mac_tx_last_be) : 8;
                for (int n = 0; n < bytes; n++) back.push_back(uint8_t(out >> 8 * n));
                ended = soc->mac_tx_last;
            }
            clock_edge();
            if (taken) sent += beat;
        }
        soc->mac_rx_valid = 0;
        if (back != frame) fail("a frame comes back changed; its length", length);
    }
    std::printf("litex: frames of 60 to 68 bytes passed from MAC to MAC by the host side\n");
}

}  // namespace

int main(int argc, char **argv) {
    Verilated::commandArgs(argc, argv);
    soc = new Vverbena_soc;
    soc->rst = 1;
    for (int n = 0; n < 8; n++) clock_edge();
    soc->rst = 0;
    the_engine_is_found();
    an_event_lands_in_the_socs_memory();
    frames_pass_by_the_host_side();
    std::printf("litex: all held, %llu cycles\n", (unsigned long long)cycles);
    delete soc;
    return 0;
}
