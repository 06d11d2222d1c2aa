"""Real TCP over a veth pair through everything that `contend deploy` loads.

    ci/deploy.py target/release/contend          (built with --features bpf; as root)

Three network namespaces stand for a server, an access point that forwards, and a station. Their veth pairs have no
checksum offload, so that a wrong checksum is a lost packet, which the kernel counts. Each controller and each control
block carries two seconds of TCP; a block is at the access point's interface to the station. If bpftool is there, the
commands of `--recipe` load a block once more. prague and its rewriter are at the sender: if the kernel negotiates
accurate ECN, the counters of both ends show ECT(1) and the marks.
"""

import contextlib
import ctypes
import fcntl
import multiprocessing
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

SERVER, AP, STA = "contend-server", "contend-ap", "contend-sta"
ADDRESS = {SERVER: "10.79.0.2", STA: "10.78.0.2"}
DEVICE = "ctap"
SECONDS = 2.0
TCP_INFO, TCP_CONGESTION = 11, 13
TCP_FIN_WAIT1 = 4
CLONE_NEWNET = 0x40000000


def sh(text, check=True):
    return subprocess.run(text, shell=True, check=check, capture_output=True, text=True).stdout


def enter(namespace):
    with open(f"/run/netns/{namespace}") as file:
        # os.setns, which needs Python 3.12.
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")


def without_offload(device):
    """Checksums are computed by the sender, not by a network card that does not exist (ETHTOOL_STXCSUM, STSO, SGSO)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for command in (0x1F, 0x24, 0x17):
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            request = struct.pack("16sP", device.encode(), ctypes.addressof(value))
            fcntl.ioctl(s, 0x8946, request)


@contextlib.contextmanager
def network(shaped=""):
    """The three namespaces; `shaped` is the queue of the access point's interface to the station."""
    try:
        for namespace in (SERVER, AP, STA):
            sh(f"ip netns add {namespace}")
        sh(f"ip netns exec {AP} sysctl -q net.ipv4.ip_forward=1")
        for namespace, device in ((SERVER, "ctwire"), (STA, DEVICE)):
            sh(f"ip -n {AP} link add {device} type veth peer name eth0 netns {namespace}")
            gateway = ADDRESS[namespace].replace(".0.2", ".0.1")
            sh(f"ip -n {AP} addr add {gateway}/24 dev {device}; ip -n {AP} link set {device} up")
            sh(f"ip -n {namespace} addr add {ADDRESS[namespace]}/24 dev eth0; ip -n {namespace} link set eth0 up")
            sh(f"ip -n {namespace} route add default via {gateway}")
            for place, own in ((AP, device), (namespace, "eth0")):
                done = multiprocessing.Process(target=lambda: (enter(place), without_offload(own)))
                done.start()
                done.join()
                assert done.exitcode == 0, "the offloads of the veth pairs cannot be switched off"
        if shaped:
            sh(f"ip netns exec {AP} tc qdisc add dev {DEVICE} root {shaped}")
        yield
    finally:
        for namespace in (SERVER, AP, STA):
            sh(f"ip netns del {namespace}", check=False)


def tcp_info(s):
    info = s.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 512)
    return info + bytes(512 - len(info))


def receive(namespace, address, congestion, ready, result):
    """Receives to the end; the result is the tcp_info then."""
    enter(namespace)
    with socket.create_server((address, 5001), family=family(address)) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, congestion.encode())
        ready.set()
        connection, _ = listener.accept()
        while connection.recv(1 << 16):
            pass
        result.send(tcp_info(connection))


def send(namespace, address, congestion, result):
    """Sends for two seconds; the results are the bytes acknowledged and the largest window offered, and, when all is
    acknowledged or five seconds later, the tcp_info."""
    enter(namespace)
    s = socket.socket(family(address))
    s.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, congestion.encode())
    s.settimeout(0.2)
    s.connect((address, 5001))
    end = time.monotonic() + SECONDS
    window = 0
    while time.monotonic() < end:
        with contextlib.suppress(TimeoutError):
            s.send(bytes(1 << 14))
        window = max(window, struct.unpack_from("I", tcp_info(s), 228)[0])
    result.send((struct.unpack_from("Q", tcp_info(s), 120)[0], window))
    s.shutdown(socket.SHUT_WR)
    # FIN-WAIT-2 and later: the end is acknowledged.
    while tcp_info(s)[0] == TCP_FIN_WAIT1 and time.monotonic() < end + 5:
        time.sleep(0.05)
    result.send(tcp_info(s))


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def transfer(sender, receiver, congestion="cubic", answers="cubic", address=None, ends=False):
    """Bytes acknowledged in two seconds and the largest window offered; with `ends` the tcp_info of sender and receiver
    too."""
    address = address or ADDRESS[receiver]
    ready, of_sender, of_receiver = multiprocessing.Event(), multiprocessing.Pipe(), multiprocessing.Pipe()
    args = (receiver, address, answers, ready, of_receiver[1])
    listening = multiprocessing.Process(target=receive, args=args, daemon=True)
    listening.start()
    assert ready.wait(5)
    args = (sender, address, congestion, of_sender[1])
    sending = multiprocessing.Process(target=send, args=args, daemon=True)
    sending.start()
    assert of_sender[0].poll(SECONDS + 10), "the transfer does not end"
    answer = of_sender[0].recv()
    if ends:
        assert of_sender[0].poll(10) and of_receiver[0].poll(10), "the transfer is not whole"
        answer += (of_sender[0].recv(), of_receiver[0].recv())
    sending.terminate()
    listening.terminate()
    return answer


def wrong_checksums():
    texts = [sh(f"ip netns exec {n} cat /proc/net/snmp") for n in (SERVER, AP, STA)]
    tables = [[line.split() for line in text.splitlines() if line.startswith("Tcp:")] for text in texts]
    return sum(int(dict(zip(*rows))["InCsumErrors"]) for rows in tables)


@contextlib.contextmanager
def deployed(words, namespace=None):
    """`contend deploy WORDS`, until the block ends; yields what it printed in the end."""
    command = [CONTEND, "deploy", *words]
    if namespace:
        command = ["ip", "netns", "exec", namespace, *command]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = process.stderr.readline()
    if process.poll() is not None:
        sys.exit(f"contend deploy {' '.join(words)}: {said}{process.stderr.read()}")
    out = []
    try:
        yield out
    finally:
        # `ip netns exec` becomes the process.
        process.send_signal(signal.SIGINT)
        out.append(process.communicate(timeout=10)[0])


def number(text, after):
    return int(re.search(rf"{after}:? (\d+)", text).group(1))


def controller(name, *option):
    with network("tbf rate 50mbit burst 20kb limit 100kb"), deployed(["cc", name, *option]) as out:
        acked, _ = transfer(SERVER, STA, f"contend_{name}"[:15])
    acknowledgments = number(out[0], "taken out after")
    assert acked > 1_000_000, f"{name}: {acked} B in {SECONDS} s"
    assert acknowledgments > 200, f"{name}: the kernel called it for {acknowledgments} acknowledgments"
    print(f"contend_{name}: {acked * 8 / SECONDS / 1e6:.1f} of 50 Mb/s, {acknowledgments} acknowledgments")


def block(name, option, sender, receiver, counted, shaped=""):
    with network(shaped), deployed([name, "--dev", DEVICE, *option], AP) as out:
        acked, window = transfer(sender, receiver)
        status = sh(f"{CONTEND} deploy status")
        assert number(status, counted) > 0, f"{name}: status says {status}"
        wrong = wrong_checksums()
    did = number(out[0], counted)
    assert acked > 100_000, f"{name}: {acked} B in {SECONDS} s"
    assert did > 10, f"{name}: {out[0]}"
    assert wrong == 0, f"{name}: {wrong} packets with a wrong checksum"
    print(f"{name} {' '.join(option)}: {acked * 8 / SECONDS / 1e6:.1f} Mb/s, {counted} {did}, no wrong checksum")
    return window


def accurate_ecn():
    """prague at both ends, with its rewriter at the sender, which also marks."""
    doctor = subprocess.run([CONTEND, "doctor"], capture_output=True, text=True, check=False).stdout
    if not re.search(r"accurate ECN +.*can use it", doctor):
        print("SKIPPED: prague: the kernel negotiates no accurate ECN for it (contend doctor)")
        return
    controller("prague")
    loopback = {"namespace": SERVER, "device": "lo", "receiver": SERVER, "address": "::1"}
    for place in ({}, loopback):
        l4s("contend_prague", **place)
    # The other end has no accurate ECN: classic ECN, and nothing is rewritten.
    l4s("cubic")
    shallow()


def l4s(answers, namespace=SERVER, device="eth0", receiver=STA, address=None):
    with (
        network("tbf rate 50mbit burst 20kb limit 100kb"),
        deployed(["cc", "prague"]) as called,
        deployed(["ect1", "--dev", device, "--set", "mark=20"], namespace) as wrote,
    ):
        sh(f"ip -n {SERVER} link set lo up")
        acked, _, sent, received = transfer(SERVER, receiver, "contend_prague", answers, address, ends=True)
        wrong = wrong_checksums()
    assert wrong == 0, f"ect1: {wrong} packets with a wrong checksum"
    rewritten, marked = number(wrote[0], r"ECT\(1\) written"), number(wrote[0], "CE written")
    # Fields of tcp_info since Linux 6.18.
    ce, e1_bytes, e0_bytes, ce_bytes = (struct.unpack_from("I", sent, at)[0] for at in (196, 252, 256, 260))
    arrived, arrived_e1, arrived_ce = (struct.unpack_from("I", received, at)[0] for at in (248, 264, 272))
    what = f"prague to {address or ADDRESS[receiver]}, which answers with {answers}"
    told = (
        f"{acked * 8 / SECONDS / 1e6:.1f} Mb/s; ECT(1) on {rewritten} packets and CE on {marked}; delivered_ce {ce}, "
        f"bytes with ECT(1) {e1_bytes}, ECT(0) {e0_bytes}, CE {ce_bytes}; at the receiver {arrived} packets with CE, "
        f"bytes with ECT(1) {arrived_e1}, CE {arrived_ce}"
    )
    assert acked > 1_000_000, f"{what}: {told}"
    if answers == "cubic":
        assert rewritten == marked == ce == arrived_e1 == 0, f"{what}: {told}"
    else:
        assert rewritten > 100, f"{what}: {told}"
        # The queue may drop a packet with CE. The counters of bytes have 32 bits, which the loopback device fills.
        assert 5 < ce == arrived <= marked and ce_bytes == arrived_ce > 0, f"{what}: {told}"
        assert e1_bytes == arrived_e1 > (0 if address else 0.9 * acked) and e0_bytes == 0, f"{what}: {told}"
        assert number(called[0], "and") > 1, f"{what}: {called[0]}"
    print(f"{what}: {told}")


def shallow():
    """prague through a shaper that drops after 32 ms, with marks from 2 ms on."""
    threshold = ["ce_threshold", "--dev", DEVICE, "--set", "rate=50000000", "--set", "threshold=2000"]
    with (
        network("tbf rate 50mbit burst 20kb limit 200kb"),
        deployed(["cc", "prague"]),
        deployed(["ect1", "--dev", "eth0"], SERVER),
        deployed(threshold, AP) as out,
    ):
        acked, _, sent, received = transfer(SERVER, STA, "contend_prague", "contend_prague", ends=True)
        wrong = wrong_checksums()
    marked, rtt = number(out[0], "CE written"), struct.unpack_from("I", sent, 68)[0]
    ce, arrived = struct.unpack_from("I", sent, 196)[0], struct.unpack_from("I", received, 248)[0]
    told = (
        f"{acked * 8 / SECONDS / 1e6:.1f} of 50 Mb/s, CE on {marked} packets, {arrived} of them arrived, delivered_ce "
        f"{ce}, round trip {rtt / 1000:.1f} ms"
    )
    assert wrong == 0 and acked > 1_000_000, f"ce_threshold: {told}, {wrong} wrong checksums"
    assert 10 < marked == arrived == ce and rtt < 10_000, f"ce_threshold: {told}"
    print(f"ce_threshold: {told}")


def recipe():
    """The commands of `--recipe`, by bpftool and tc."""
    if not shutil.which("bpftool"):
        print("SKIPPED: the recipe of fcwa: no bpftool")
        return
    printed = sh(f"{CONTEND} deploy fcwa --dev {DEVICE} --set segments=10 --recipe")
    printed = printed.replace("contend deploy", f"{CONTEND} deploy")
    load, out = printed.split("# take it out")
    out = out.partition("\n")[2]
    with tempfile.TemporaryDirectory() as folder, network():
        pathlib.Path(folder, "load").write_text("set -e\n" + load.replace("2>/dev/null", "2>/dev/null || true"))
        pathlib.Path(folder, "out").write_text(out)
        # ip netns exec mounts a /sys of its own; the file system for pinned programs is in it.
        both = f"cd {folder}; mount -t bpf bpf /sys/fs/bpf; sh load && sleep {SECONDS + 3}; sh out"
        process = subprocess.Popen(["ip", "netns", "exec", AP, "sh", "-c", both], stderr=subprocess.PIPE, text=True)
        time.sleep(1.5)
        _, window = transfer(SERVER, STA)
        wrong = wrong_checksums()
        said = process.communicate(timeout=20)[1]
    assert process.returncode == 0, said
    assert 0 < window <= 10 * 1460 + 4096 and wrong == 0, f"recipe: a window of {window} B, {wrong} wrong checksums"
    print(f"fcwa by its recipe: a window of {window} B at most")


def main():
    global CONTEND
    CONTEND = str(pathlib.Path(sys.argv[1]).resolve())
    for name in ("reno", "jersey", "tcp_d", "tcp_av"):
        controller(name)
    controller("westwood", "--set", "filter=plus")
    window = block("fcwa", ["--set", "segments=10"], SERVER, STA, "windows lowered")
    assert 0 < window <= 10 * 1460 + 4096, f"fcwa: a window of {window} B was offered"
    # One download, no delay: W_lim is the buffer, and what is on a wire of 100 us at most.
    window = block("fcwa", ["--set", "segments=0", "--set", "buffer=20"], SERVER, STA, "windows lowered")
    assert 18 * 1460 < window <= 24 * 1460 + 4096, f"fcwa, measured: a window of {window} B was offered"
    block("ack_thinning", ["--set", "d=2"], STA, SERVER, "acknowledgments dropped")
    block("ack_filter", [], STA, SERVER, "acknowledgments dropped", "tbf rate 300kbit burst 5kb limit 100kb")
    accurate_ecn()
    recipe()


if __name__ == "__main__":
    main()
