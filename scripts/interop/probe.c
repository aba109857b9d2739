// SPDX-License-Identifier: MIT OR Apache-2.0
// probe: one QP, a list of operations, every byte checked: what the stock tools can't make. Runs in the interop guest; `hca-sim probe` is
// the other side, and speaks the same lines.
//
//   probe [-p PORT] [-t TIMEOUT] [-w RNR_TIMER] [-l LATE_MS]                                    server: does what the client asks for
//   probe [-p PORT] [-t TIMEOUT] [-q rc|uc|ud] [-m PMTU] -o OPERATIONS SERVER                    client
//
// OPERATIONS, with commas, NAME[:LENGTH][*TIMES]; operation number i has slot i of the buffers:
//   send send-imm send-inv write write-imm read          LENGTH bytes
//   cas fadd                                             8 bytes
//   bad-key-write bad-key-read bad-key-cas over-write over-read    must fail: remote access error
//   long-send                                            must fail: the receive is a byte too short
// One that must fail comes last. -l: the server posts its receives that many ms late, so that RNR NAKs come.
//
// Lines over TCP: the client's RUN transport=… pmtu=… operations=…; then each side's PROBE qpn=… psn=… rkey=… inv=… addr=… gid=…, each side's
// READY, the client's DONE, the server's DONE.
// Exit status: 0 all as it should be, 1 not, 2 it could not be run.
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SLOT = 65536, MOST = 100, LINE = 4096, GRH = 40, QKEY = 0x11111111, GID_INDEX = 1, DEPTH = 8, SECONDS = 60 };
enum kind { SEND, SEND_IMM, SEND_INV, WRITE, WRITE_IMM, READ, CAS, FADD, BAD_WRITE, BAD_READ, BAD_CAS, OVER_WRITE, OVER_READ, LONG_SEND, KINDS };
static const char *const names[KINDS] = {"send", "send-imm", "send-inv", "write", "write-imm", "read", "cas", "fadd", "bad-key-write",
                                         "bad-key-read", "bad-key-cas", "over-write", "over-read", "long-send"};
static const enum ibv_wr_opcode opcodes[KINDS] = {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_SEND_WITH_INV, IBV_WR_RDMA_WRITE,
    IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_RDMA_WRITE,
    IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND};

struct operation { enum kind kind; uint32_t length; };
static struct operation ops[MOST];
static int count, wrong;
static enum ibv_qp_type transport = IBV_QPT_RC;

static void die(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fputs("probe: ", stderr);
    vfprintf(stderr, format, list);
    fprintf(stderr, " (%s)\n", strerror(errno));
    exit(2);
}
static void bad(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    putchar('\n');
    wrong++;
}

static int is_atomic(enum kind k) { return k == CAS || k == FADD || k == BAD_CAS; }
static int takes_receive(enum kind k) { return k <= SEND_INV || k == WRITE_IMM || k == LONG_SEND; }
static int must_fail(enum kind k) { return k >= BAD_WRITE; }
static int brings_data(enum kind k) { return k == READ || k == BAD_READ || k == OVER_READ || is_atomic(k); }

static void parse(char *text) {
    for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
        int times = 1, kind = 0;
        uint32_t length = 8;
        char *at = strchr(word, '*');
        if (at) { times = atoi(at + 1); *at = 0; }
        if ((at = strchr(word, ':'))) { length = strtoul(at + 1, NULL, 0); *at = 0; }
        while (kind < KINDS && strcmp(word, names[kind])) kind++;
        if (kind == KINDS || length > SLOT) die("no such operation: %s:%u", word, length);
        for (; times > 0; times--) {
            if (count == MOST) die("more than %d operations", MOST);
            ops[count++] = (struct operation){kind, is_atomic(kind) ? 8 : length};
        }
    }
}

// Byte `at` of operation `i`; `salt` 0: what the client sends, 1: what it reads.
static uint8_t pattern(int i, uint32_t at, int salt) { return at * 7 + (at >> 8) * 13 + i * 31 + salt * 99; }
static void fill(uint8_t *slot, int i, int salt) {
    for (uint32_t at = 0; at < ops[i].length; at++) slot[at] = pattern(i, at, salt);
}
static void check(const uint8_t *slot, int i, int salt) {
    for (uint32_t at = 0; at < ops[i].length; at++)
        if (slot[at] != pattern(i, at, salt)) {
            bad("operation %d (%s): byte %u is %02x, want %02x", i, names[ops[i].kind], at, slot[at], pattern(i, at, salt));
            return;
        }
}
static uint64_t word(const uint8_t *slot) { uint64_t value; memcpy(&value, slot, 8); return value; }

static FILE *in, *out;
static void say(const char *line) { fprintf(out, "%s\n", line); fflush(out); }
static void expect(const char *want) {
    char line[64];
    if (!fgets(line, sizeof line, in) || strncmp(line, want, strlen(want))) die("the peer went away before %s", want);
}
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }

static int meet(const char *server, int port) {
    int s = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (server) {
        if (inet_pton(AF_INET, server, &address.sin_addr) != 1) die("%s is no IPv4 address", server);
        if (connect(s, (void *)&address, sizeof address)) die("connecting to %s port %d", server, port);
        return s;
    }
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(s, (void *)&address, sizeof address) || listen(s, 1)) die("listening at port %d", port);
    return accept(s, NULL, NULL);
}

static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_ah *ah;
static struct ibv_mr *mr, *receive_mr;
static uint8_t *buffer, *received;
struct peer { uint32_t qpn, psn, rkey, inv; unsigned long long address; union ibv_gid gid; };

static void post_receives(void) {
    uint32_t grh = transport == IBV_QPT_UD ? GRH : 0;
    for (int i = 0; i < count; i++) {
        if (!takes_receive(ops[i].kind)) continue;
        uint32_t length = ops[i].kind == WRITE_IMM ? 0 : ops[i].kind == LONG_SEND ? ops[i].length - 1 : ops[i].length + grh;
        struct ibv_sge sge = {(uintptr_t)received + (size_t)i * SLOT, length, receive_mr->lkey};
        struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = length > 0}, *failed;
        if ((errno = ibv_post_recv(qp, &wr, &failed))) die("posting receive %d", i);
    }
}

static void post(int i, const struct peer *peer) {
    struct operation op = ops[i];
    uint8_t *slot = buffer + (size_t)i * SLOT;
    if (!brings_data(op.kind)) fill(slot, i, 0);
    struct ibv_sge sge = {(uintptr_t)slot, op.length, mr->lkey};
    struct ibv_send_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = op.length > 0, .opcode = opcodes[op.kind], .send_flags = IBV_SEND_SIGNALED}, *failed;
    uint64_t remote = peer->address + (uint64_t)i * SLOT;
    uint32_t rkey = peer->rkey;
    if (op.kind >= BAD_WRITE && op.kind <= BAD_CAS) rkey ^= 0x5a;
    if (op.kind == OVER_WRITE || op.kind == OVER_READ) remote = peer->address + (uint64_t)count * SLOT - op.length + 1;
    if (op.kind == SEND_IMM || op.kind == WRITE_IMM) wr.imm_data = htonl(0xabc00000u + i);
    if (op.kind == SEND_INV) wr.invalidate_rkey = peer->inv;
    if (is_atomic(op.kind)) {
        wr.wr.atomic.remote_addr = remote;
        wr.wr.atomic.rkey = rkey;
        wr.wr.atomic.compare_add = op.kind == FADD ? 7 : 0x1000 + i;
        wr.wr.atomic.swap = 0xcafe0000u + i;
    } else {
        wr.wr.rdma.remote_addr = remote;
        wr.wr.rdma.rkey = rkey;
    }
    if (transport == IBV_QPT_UD) {
        wr.wr.ud.ah = ah;
        wr.wr.ud.remote_qpn = peer->qpn;
        wr.wr.ud.remote_qkey = QKEY;
    }
    if ((errno = ibv_post_send(qp, &wr, &failed))) die("posting operation %d (%s)", i, names[op.kind]);
}

static void client(const struct peer *peer) {
    int posted = 0, done = 0;
    double end = now() + SECONDS;
    while (done < count && now() < end) {
        // An operation that must fail goes alone: what is behind it would be flushed.
        if (posted < count && posted - done < DEPTH && (!must_fail(ops[posted].kind) || posted == done)) post(posted++, peer);
        struct ibv_wc wc;
        if (ibv_poll_cq(cq, 1, &wc) != 1) continue;
        int i = wc.wr_id;
        enum kind kind = ops[i].kind;
        const uint8_t *slot = buffer + (size_t)i * SLOT;
        done++;
        if (must_fail(kind)) {
            int fits = kind == LONG_SEND ? wc.status == IBV_WC_REM_INV_REQ_ERR || wc.status == IBV_WC_REM_OP_ERR : wc.status == IBV_WC_REM_ACCESS_ERR;
            if (!fits) bad("operation %d (%s) ended with %s", i, names[kind], ibv_wc_status_str(wc.status));
        } else if (wc.status) {
            bad("operation %d (%s:%u) failed: %s", i, names[kind], ops[i].length, ibv_wc_status_str(wc.status));
            break;
        } else if (kind == READ) {
            check(slot, i, 1);
        } else if (is_atomic(kind) && word(slot) != 0x1000u + i) {
            bad("operation %d (%s): found %llx before", i, names[kind], (unsigned long long)word(slot));
        }
    }
    if (done < count && !wrong) bad("only %d of %d operations completed in %d s", done, count, SECONDS);
    printf("client: %d of %d operations completed, %d wrong\n", done, count, wrong);
    say("DONE");
    expect("DONE");
}

// Whether a receive into `slot` is operation `i`'s.
static int holds(const uint8_t *slot, int i, const struct ibv_wc *wc) {
    enum kind kind = ops[i].kind;
    uint32_t grh = transport == IBV_QPT_UD ? GRH : 0;
    int with_imm = kind == SEND_IMM || kind == WRITE_IMM;
    if (!takes_receive(kind) || wc->byte_len != ops[i].length + grh || with_imm != !!(wc->wc_flags & IBV_WC_WITH_IMM)) return 0;
    if (with_imm && ntohl(wc->imm_data) != 0xabc00000u + i) return 0;
    for (uint32_t at = 0; at < ops[i].length && kind != WRITE_IMM; at++)
        if (slot[grh + at] != pattern(i, at, 0)) return 0;
    return 1;
}

static void server(int late) {
    int want = 0, got = 0, last = -1;
    for (int i = 0; i < count; i++) want += takes_receive(ops[i].kind) && !must_fail(ops[i].kind);
    say("READY");
    expect("READY");
    if (late) { usleep(late * 1000); post_receives(); }
    // The client's DONE comes when all its operations have ended, so all that is to come has come, or is about to.
    expect("DONE");
    struct ibv_wc wc;
    for (double end = now() + 0.3; now() < end;) {
        if (ibv_poll_cq(cq, 1, &wc) != 1) continue;
        int i = wc.wr_id;
        enum kind kind = ops[i].kind;
        if (wc.status) {
            if (!count || !must_fail(ops[count - 1].kind)) bad("receive %d (%s): %s", i, names[kind], ibv_wc_status_str(wc.status));
            continue;
        }
        got++;
        // Unreliable services may lose messages, so a receive needn't be its own operation's: it holds the next one that fits.
        if (transport != IBV_QPT_RC) {
            for (last++; last < count && !holds(received + (size_t)i * SLOT, last, &wc);) last++;
            if (last == count) bad("receive %d holds no operation's message that is due", i);
            continue;
        }
        if (i <= last) bad("receive %d came after %d", i, last);
        last = i;
        if (kind == SEND || kind == SEND_IMM || kind == SEND_INV) check(received + (size_t)i * SLOT, i, 0);
        if ((kind == SEND_IMM || kind == WRITE_IMM) && ntohl(wc.imm_data) != 0xabc00000u + i) bad("receive %d: immediate %x", i, ntohl(wc.imm_data));
    }
    if (transport == IBV_QPT_RC && got != want) bad("%d of %d receives completed", got, want);
    for (int i = 0; i < count && transport == IBV_QPT_RC; i++) {
        const uint8_t *slot = buffer + (size_t)i * SLOT;
        if (ops[i].kind == WRITE || ops[i].kind == WRITE_IMM) check(slot, i, 0);
        if (ops[i].kind == CAS && word(slot) != 0xcafe0000u + i) bad("operation %d (cas): %llx", i, (unsigned long long)word(slot));
        if (ops[i].kind == FADD && word(slot) != 0x1000u + i + 7) bad("operation %d (fadd): %llx", i, (unsigned long long)word(slot));
    }
    printf("server: %d of %d receives completed, %d wrong\n", got, want, wrong);
    say("DONE");
}

static enum ibv_qp_type service_type(const char *name) {
    return !strcmp(name, "uc") ? IBV_QPT_UC : !strcmp(name, "ud") ? IBV_QPT_UD : IBV_QPT_RC;
}

int main(int argc, char **argv) {
    int option, pmtu = 1024, port = 18600, timeout = 14, rnr_timer = 12, late = 0;
    char *list = NULL;
    while ((option = getopt(argc, argv, "q:m:p:t:w:l:o:")) != -1) switch (option) {
        case 'q': transport = service_type(optarg); break;
        case 'm': pmtu = atoi(optarg); break;
        case 'p': port = atoi(optarg); break;
        case 't': timeout = atoi(optarg); break;
        case 'w': rnr_timer = atoi(optarg); break;
        case 'l': late = atoi(optarg); break;
        case 'o': list = optarg; break;
        default: return 2;
        }
    const char *to = argv[optind];
    if (to && !list) die("no operations: give -o");
    int s = meet(to, port);
    if (s < 0) die("accepting");
    in = fdopen(s, "r");
    out = fdopen(dup(s), "w");
    setvbuf(stdout, NULL, _IOLBF, 0);
    char text[64], line[LINE], service[3] = "", operations[LINE];
    if (to) {
        fprintf(out, "RUN transport=%s pmtu=%d operations=%s\n", transport == IBV_QPT_UC ? "uc" : transport == IBV_QPT_UD ? "ud" : "rc", pmtu, list);
        fflush(out);
        parse(list);
    } else {
        if (!fgets(line, sizeof line, in) || sscanf(line, "RUN transport=%2s pmtu=%d operations=%4000s", service, &pmtu, operations) != 3) die("the client said nothing that I understand");
        transport = service_type(service);
        parse(operations);
    }
    struct ibv_device **devices = ibv_get_device_list(NULL);
    if (!devices || !devices[0]) die("no RDMA device");
    struct ibv_context *context = ibv_open_device(devices[0]);
    if (!context || !(pd = ibv_alloc_pd(context))) die("opening the device");
    size_t bytes = (size_t)count * SLOT;
    buffer = aligned_alloc(4096, bytes);
    received = aligned_alloc(4096, bytes + GRH);
    if (!buffer || !received) die("no memory");
    memset(buffer, 0, bytes);
    memset(received, 0, bytes + GRH);
    int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    mr = ibv_reg_mr(pd, buffer, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND | remote);
    receive_mr = ibv_reg_mr(pd, received, bytes + GRH, IBV_ACCESS_LOCAL_WRITE);
    cq = ibv_create_cq(context, 2 * count + 16, NULL, NULL, 0);
    if (!mr || !receive_mr || !cq) die("registering memory");
    struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = transport, .sq_sig_all = 1,
        .cap = {.max_send_wr = DEPTH + 4, .max_recv_wr = count + 4, .max_send_sge = 1, .max_recv_sge = 1}};
    if (!(qp = ibv_create_qp(pd, &init))) die("creating a QP");
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY, .qp_access_flags = remote};
    int ud = transport == IBV_QPT_UD, rc = transport == IBV_QPT_RC;
    if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS))) die("modify to INIT");
    union ibv_gid gid;
    if (ibv_query_gid(context, 1, GID_INDEX, &gid)) die("no GID %d", GID_INDEX);

    struct ibv_mw *window = NULL;
    uint32_t psn = to ? 0xfffff0 : 0x123456, inv = 0;
    for (int i = 0; i < count && !to; i++) {
        uint8_t *slot = buffer + (size_t)i * SLOT;
        uint64_t before = 0x1000 + i;
        if (ops[i].kind == READ) fill(slot, i, 1);
        if (is_atomic(ops[i].kind)) memcpy(slot, &before, 8);
        // Soft-RoCE invalidates memory windows of type 2 only.
        if (ops[i].kind == SEND_INV && !window) {
            if (!(window = ibv_alloc_mw(pd, IBV_MW_TYPE_2))) die("memory window");
            inv = ibv_inc_rkey(window->rkey);
        }
    }
    inet_ntop(AF_INET6, &gid, text, sizeof text);
    fprintf(out, "PROBE qpn=%06x psn=%06x rkey=%08x inv=%08x addr=%016llx gid=%s\n", qp->qp_num, psn, mr->rkey, inv, (unsigned long long)(uintptr_t)buffer, text);
    fflush(out);
    struct peer peer;
    if (!fgets(line, sizeof line, in) || sscanf(line, "PROBE qpn=%x psn=%x rkey=%x inv=%x addr=%llx gid=%63s", &peer.qpn, &peer.psn, &peer.rkey, &peer.inv, &peer.address, text) != 6 ||
        inet_pton(AF_INET6, text, &peer.gid) != 1)
        die("the peer said nothing that I understand");
    struct ibv_ah_attr way = {.is_global = 1, .port_num = 1, .grh = {.dgid = peer.gid, .sgid_index = GID_INDEX, .hop_limit = 64}};
    memset(&attr, 0, sizeof attr);
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = pmtu == 256 ? IBV_MTU_256 : pmtu == 512 ? IBV_MTU_512 : pmtu == 1024 ? IBV_MTU_1024 : pmtu == 2048 ? IBV_MTU_2048 : IBV_MTU_4096;
    attr.dest_qp_num = peer.qpn;
    attr.rq_psn = peer.psn;
    attr.max_dest_rd_atomic = 4;
    attr.min_rnr_timer = rnr_timer;
    attr.ah_attr = way;
    int connected = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | (ud ? 0 : connected) | (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0))) die("modify to RTR");
    if (ud && !(ah = ibv_create_ah(pd, &way))) die("address handle");
    memset(&attr, 0, sizeof attr);
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = psn;
    attr.timeout = timeout;
    attr.retry_cnt = attr.rnr_retry = 7;
    attr.max_rd_atomic = 4;
    int reliable = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | (rc ? reliable : 0))) die("modify to RTS");
    if (window) {
        struct ibv_mw_bind_info info = {.mr = mr, .addr = (uintptr_t)buffer, .length = bytes, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
        struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW, .bind_mw = {.mw = window, .rkey = inv, .bind_info = info}}, *failed;
        struct ibv_wc wc;
        if ((errno = ibv_post_send(qp, &wr, &failed))) die("binding the window");
        while (!ibv_poll_cq(cq, 1, &wc)) {}
        if (wc.status) die("binding the window: %s", ibv_wc_status_str(wc.status));
    }
    if (to) {
        say("READY");
        expect("READY");
        client(&peer);
    } else {
        if (!late) post_receives();
        server(late);
    }
    return wrong > 0;
}
