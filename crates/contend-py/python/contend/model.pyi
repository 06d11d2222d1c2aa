"""The closed forms, as `contend list models` has them. Made by ci/model_stub.py."""

from collections.abc import Iterable, Mapping
from typing import Any

# A number in base units (s, bps, B, packets), or a text with a unit like "20us".
_Argument = float | str
# Options of a calculator: a value or a list of values, and settings like {"slot": "20us"}.
_Values = float | str | Iterable[float | str] | None
_Texts = Mapping[str, object] | Iterable[str]
_Rows = list[dict[str, Any]]

class _bianchi:
    def throughput(
        self,
        *,
        n: _Argument,
        slot: _Argument,
        ts: _Argument,
        tc: _Argument,
        payload: _Argument,
        cwmin: _Argument = ...,
        cwmax: _Argument = ...,
        attempts: _Argument = ...,
    ) -> float: ...
    def collision_probability(
        self,
        *,
        n: _Argument,
        cwmin: _Argument = ...,
        cwmax: _Argument = ...,
        attempts: _Argument = ...,
    ) -> float: ...
    def service_time(
        self,
        *,
        n: _Argument,
        slot: _Argument,
        ts: _Argument,
        tc: _Argument,
        payload: _Argument,
        cwmin: _Argument = ...,
        cwmax: _Argument = ...,
        attempts: _Argument = ...,
    ) -> float: ...
    def tau(
        self,
        *,
        n: _Argument,
        cwmin: _Argument = ...,
        cwmax: _Argument = ...,
        attempts: _Argument = ...,
    ) -> float: ...
    def drop_probability(
        self,
        *,
        n: _Argument,
        slot: _Argument,
        ts: _Argument,
        tc: _Argument,
        payload: _Argument,
        cwmin: _Argument = ...,
        cwmax: _Argument = ...,
        attempts: _Argument = ...,
    ) -> float: ...

class _two_station:
    def throughput(
        self,
        *,
        slot: _Argument,
        ts: _Argument,
        tc: _Argument,
        payload: _Argument,
        counted: _Argument = ...,
        cwmin: _Argument = ...,
        cwmax: _Argument = ...,
        attempts: _Argument = ...,
    ) -> float: ...
    def collision_probability(
        self,
        *,
        cwmin: _Argument = ...,
        cwmax: _Argument = ...,
        attempts: _Argument = ...,
        counted: _Argument = ...,
    ) -> float: ...

class _cycle_time:
    def __call__(
        self,
        *,
        n_up: _Argument,
        n_down: _Argument,
        slot: _Argument,
        ts_data: _Argument,
        ts_ack: _Argument,
        b: _Argument = ...,
        cwmin: _Argument = ...,
        cwmax: _Argument = ...,
        attempts: _Argument = ...,
        form: _Argument = ...,
    ) -> float: ...
    def pair(
        self,
        *,
        slot: _Argument,
        ts_x: _Argument,
        ts_y: _Argument,
        cwmin: _Argument = ...,
        cwmax: _Argument = ...,
        attempts: _Argument = ...,
        form: _Argument = ...,
    ) -> float: ...

class _fcwa:
    def window(
        self,
        *,
        delay: _Argument,
        buffer: _Argument,
        n_up: _Argument,
        n_down: _Argument,
        slot: _Argument,
        ts_data: _Argument,
        ts_ack: _Argument,
        b: _Argument = ...,
        cwmin: _Argument = ...,
        cwmax: _Argument = ...,
        attempts: _Argument = ...,
        form: _Argument = ...,
    ) -> float: ...
    def buffer(
        self,
        *,
        delay: _Argument,
        window: _Argument,
        n_up: _Argument,
        n_down: _Argument,
        slot: _Argument,
        ts_data: _Argument,
        ts_ack: _Argument,
        b: _Argument = ...,
        cwmin: _Argument = ...,
        cwmax: _Argument = ...,
        attempts: _Argument = ...,
        form: _Argument = ...,
    ) -> float: ...
    def flow_time(
        self,
        *,
        n_up: _Argument,
        n_down: _Argument,
        slot: _Argument,
        ts_data: _Argument,
        ts_ack: _Argument,
        b: _Argument = ...,
        cwmin: _Argument = ...,
        cwmax: _Argument = ...,
        attempts: _Argument = ...,
        form: _Argument = ...,
    ) -> float: ...
    def throughput(
        self,
        *,
        payload: _Argument,
        n_up: _Argument,
        n_down: _Argument,
        slot: _Argument,
        ts_data: _Argument,
        ts_ack: _Argument,
        b: _Argument = ...,
        cwmin: _Argument = ...,
        cwmax: _Argument = ...,
        attempts: _Argument = ...,
        form: _Argument = ...,
    ) -> float: ...
    def fixed_window(self, *, n: _Argument, buffer: _Argument) -> float: ...

class _ampdu:
    def rate(self, *, n: _Argument, phy_rate: _Argument, bytes: _Argument = ..., backoff: _Argument = ...) -> float: ...
    def data_time(
        self,
        *,
        n: _Argument,
        phy_rate: _Argument,
        bytes: _Argument = ...,
        backoff: _Argument = ...,
    ) -> float: ...
    def overhead(
        self,
        *,
        n: _Argument,
        phy_rate: _Argument,
        bytes: _Argument = ...,
        backoff: _Argument = ...,
    ) -> float: ...

class _padhye:
    def rate(
        self,
        *,
        p: _Argument,
        rtt: _Argument,
        t0: _Argument,
        b: _Argument = ...,
        window: _Argument = ...,
    ) -> float: ...
    def square_root_window(self, *, p: _Argument) -> float: ...
    def square_root_rate(self, *, p: _Argument, rtt: _Argument) -> float: ...

class _jersey:
    def reno_rate(self, *, q: _Argument, rtt: _Argument) -> float: ...
    def rate(self, *, q: _Argument, rtt: _Argument, d: _Argument) -> float: ...
    def answered(self, *, pc: _Argument, pw: _Argument, aw: _Argument, ac: _Argument = ...) -> float: ...
    def reno_window(self, *, q: _Argument, rtt: _Argument) -> float: ...
    def window(self, *, q: _Argument, rtt: _Argument, d: _Argument) -> float: ...
    def ratio(self, *, q: _Argument, eta: _Argument) -> float: ...
    def reno_gain(self, *, pc: _Argument, pw: _Argument, aw: _Argument, ac: _Argument = ...) -> float: ...
    def gain(
        self,
        *,
        pc: _Argument,
        pw: _Argument,
        aw: _Argument,
        rtt: _Argument,
        d: _Argument,
        ac: _Argument = ...,
    ) -> float: ...
    def advantage(
        self,
        *,
        pc: _Argument,
        pw: _Argument,
        aw: _Argument,
        rtt: _Argument,
        d: _Argument,
        ac: _Argument = ...,
    ) -> float: ...
    def advantage_over_plain(
        self,
        *,
        pc: _Argument,
        pw: _Argument,
        aw: _Argument,
        rtt: _Argument,
        d: _Argument,
        ac: _Argument = ...,
    ) -> float: ...

class _aiad:
    def load(
        self,
        *,
        n: _Argument,
        capacity: _Argument,
        d: _Argument,
        dq: _Argument,
        alpha: _Argument = ...,
        exponent: _Argument = ...,
    ) -> float: ...
    def loss(
        self,
        *,
        n: _Argument,
        capacity: _Argument,
        d: _Argument,
        dq: _Argument,
        alpha: _Argument = ...,
        exponent: _Argument = ...,
    ) -> float: ...
    def loss_slope(
        self,
        *,
        n: _Argument,
        capacity: _Argument,
        d: _Argument,
        dq: _Argument,
        alpha: _Argument = ...,
        exponent: _Argument = ...,
    ) -> float: ...
    def queue_bound(
        self,
        *,
        n: _Argument,
        capacity: _Argument,
        d: _Argument,
        dq: _Argument,
        alpha: _Argument = ...,
        exponent: _Argument = ...,
        together: _Argument = ...,
    ) -> float: ...
    def alpha_eta(
        self,
        *,
        n: _Argument,
        capacity: _Argument,
        d: _Argument,
        dq: _Argument,
        alpha: _Argument = ...,
        exponent: _Argument = ...,
    ) -> float: ...
    def alpha_eta_at_rest(
        self,
        *,
        n: _Argument,
        capacity: _Argument,
        d: _Argument,
        dq: _Argument,
        alpha: _Argument = ...,
        exponent: _Argument = ...,
    ) -> float: ...
    def alpha_eta_bound(
        self,
        *,
        n: _Argument,
        capacity: _Argument,
        d: _Argument,
        dq: _Argument,
        alpha: _Argument = ...,
        exponent: _Argument = ...,
        together: _Argument = ...,
    ) -> float: ...
    def bounded(
        self,
        *,
        n: _Argument,
        capacity: _Argument,
        d: _Argument,
        dq: _Argument,
        alpha: _Argument = ...,
        exponent: _Argument = ...,
        together: _Argument = ...,
    ) -> float: ...
    def growth(
        self,
        *,
        n: _Argument,
        capacity: _Argument,
        d: _Argument,
        dq: _Argument,
        alpha: _Argument = ...,
        exponent: _Argument = ...,
    ) -> float: ...
    def condition(
        self,
        *,
        n: _Argument,
        capacity: _Argument,
        d: _Argument,
        dq: _Argument,
        which: _Argument,
        alpha: _Argument = ...,
        exponent: _Argument = ...,
    ) -> float: ...
    def settles(
        self,
        *,
        n: _Argument,
        capacity: _Argument,
        d: _Argument,
        dq: _Argument,
        alpha: _Argument = ...,
        exponent: _Argument = ...,
    ) -> float: ...

class _gaiad:
    def rate(
        self,
        *,
        n: _Argument,
        alpha: _Argument,
        beta: _Argument,
        capacity: _Argument,
        exponent: _Argument = ...,
        printed: _Argument = ...,
    ) -> float: ...
    def share(
        self,
        *,
        n: _Argument,
        alpha: _Argument,
        beta: _Argument,
        capacity: _Argument,
        exponent: _Argument = ...,
        printed: _Argument = ...,
    ) -> float: ...
    def eigenvalue(
        self,
        *,
        n: _Argument,
        alpha: _Argument,
        beta: _Argument,
        capacity: _Argument,
        exponent: _Argument = ...,
        printed: _Argument = ...,
    ) -> float: ...
    def eigenvalue_as_printed(
        self,
        *,
        n: _Argument,
        alpha: _Argument,
        beta: _Argument,
        capacity: _Argument,
        exponent: _Argument = ...,
        printed: _Argument = ...,
    ) -> float: ...
    def eigenvalue_apart(
        self,
        *,
        n: _Argument,
        alpha: _Argument,
        beta: _Argument,
        capacity: _Argument,
        exponent: _Argument = ...,
        printed: _Argument = ...,
    ) -> float: ...
    def eigenvalue_together(
        self,
        *,
        n: _Argument,
        alpha: _Argument,
        beta: _Argument,
        capacity: _Argument,
        exponent: _Argument = ...,
        printed: _Argument = ...,
    ) -> float: ...
    def eigenvalue_together_as_printed(
        self,
        *,
        n: _Argument,
        alpha: _Argument,
        beta: _Argument,
        capacity: _Argument,
        exponent: _Argument = ...,
        printed: _Argument = ...,
    ) -> float: ...
    def stable(
        self,
        *,
        n: _Argument,
        alpha: _Argument,
        beta: _Argument,
        capacity: _Argument,
        exponent: _Argument = ...,
        printed: _Argument = ...,
    ) -> float: ...
    def stable_as_printed(
        self,
        *,
        n: _Argument,
        alpha: _Argument,
        beta: _Argument,
        capacity: _Argument,
        exponent: _Argument = ...,
        printed: _Argument = ...,
    ) -> float: ...
    def settles(
        self,
        *,
        n: _Argument,
        alpha: _Argument,
        beta: _Argument,
        capacity: _Argument,
        exponent: _Argument = ...,
        printed: _Argument = ...,
        steps: _Argument = ...,
        unequal: _Argument = ...,
    ) -> float: ...

class _hash:
    def collision(self, *, n: _Argument, slots: _Argument, ramp: _Argument = ...) -> float: ...
    def ratio(self, *, n: _Argument, slots: _Argument, ramp: _Argument = ...) -> float: ...
    def success_wait(self, *, n: _Argument, slots: _Argument, ramp: _Argument = ...) -> float: ...
    def collision_wait(self, *, n: _Argument, slots: _Argument, ramp: _Argument = ...) -> float: ...
    def window(self, *, n: _Argument, collision: _Argument, ramp: _Argument = ...) -> float: ...
    def equal_success_wait(self, *, n: _Argument, collision: _Argument) -> float: ...
    def equal_collision_wait(self, *, n: _Argument, collision: _Argument) -> float: ...
    def standing(
        self,
        *,
        n: _Argument,
        collision: _Argument,
        success_wait: _Argument,
        collision_wait: _Argument,
        within: _Argument = ...,
    ) -> float: ...
    def observed(self, *, collision: _Argument, corrupted: _Argument) -> float: ...
    def self_correlation(self, *, n: _Argument, j: _Argument) -> float: ...
    def jain(self, *, n: _Argument, w: _Argument) -> float: ...

class _tcf:
    def self_correlation(self, *, n: _Argument, j: _Argument) -> float: ...

class _permutation:
    def unequal(self, *, slots: _Argument, share: _Argument) -> float: ...

class _backoff_cost:
    def density(self, *, cost: _Argument, t: _Argument) -> float: ...
    def density_without_wait(self, *, cost: _Argument, t: _Argument) -> float: ...
    def optimal_density(
        self,
        *,
        n: _Argument,
        slots: _Argument,
        cost: _Argument,
        t: _Argument,
        form: _Argument = ...,
        per_success: _Argument = ...,
    ) -> float: ...
    def optimal_collision(
        self,
        *,
        n: _Argument,
        slots: _Argument,
        cost: _Argument,
        form: _Argument = ...,
        per_success: _Argument = ...,
    ) -> float: ...
    def least(
        self,
        *,
        n: _Argument,
        slots: _Argument,
        cost: _Argument,
        form: _Argument = ...,
        printed: _Argument = ...,
    ) -> float: ...
    def least_per_success(self, *, n: _Argument, slots: _Argument, cost: _Argument, form: _Argument = ...) -> float: ...
    def uniform(
        self,
        *,
        n: _Argument,
        slots: _Argument,
        cost: _Argument,
        form: _Argument = ...,
        printed: _Argument = ...,
    ) -> float: ...
    def hash1(
        self,
        *,
        n: _Argument,
        slots: _Argument,
        cost: _Argument,
        form: _Argument = ...,
        printed: _Argument = ...,
    ) -> float: ...

class _rt_winf:
    def capacity(
        self,
        *,
        packet: _Argument = ...,
        data_rate: _Argument = ...,
        overhead: _Argument = ...,
        basic: _Argument = ...,
        preamble: _Argument = ...,
        sifs: _Argument = ...,
        slot: _Argument = ...,
        whole: _Argument = ...,
        backoff: _Argument = ...,
        form: _Argument = ...,
    ) -> float: ...
    def available(
        self,
        *,
        packet: _Argument = ...,
        data_rate: _Argument = ...,
        overhead: _Argument = ...,
        basic: _Argument = ...,
        preamble: _Argument = ...,
        sifs: _Argument = ...,
        slot: _Argument = ...,
        whole: _Argument = ...,
        backoff: _Argument = ...,
        rts: _Argument = ...,
    ) -> float: ...
    def limit(
        self,
        *,
        packet: _Argument = ...,
        data_rate: _Argument = ...,
        overhead: _Argument = ...,
        basic: _Argument = ...,
        preamble: _Argument = ...,
        sifs: _Argument = ...,
        slot: _Argument = ...,
        whole: _Argument = ...,
        backoff: _Argument = ...,
        sifs_count: _Argument = ...,
    ) -> float: ...
    def reserved(
        self,
        *,
        packet: _Argument = ...,
        data_rate: _Argument = ...,
        overhead: _Argument = ...,
        basic: _Argument = ...,
        preamble: _Argument = ...,
        sifs: _Argument = ...,
        slot: _Argument = ...,
        whole: _Argument = ...,
        rts: _Argument = ...,
    ) -> float: ...
    def cycle(
        self,
        *,
        packet: _Argument = ...,
        data_rate: _Argument = ...,
        overhead: _Argument = ...,
        basic: _Argument = ...,
        preamble: _Argument = ...,
        sifs: _Argument = ...,
        slot: _Argument = ...,
        whole: _Argument = ...,
        backoff: _Argument = ...,
    ) -> float: ...
    def overhead(
        self,
        *,
        packet: _Argument = ...,
        data_rate: _Argument = ...,
        overhead: _Argument = ...,
        basic: _Argument = ...,
        preamble: _Argument = ...,
        sifs: _Argument = ...,
        slot: _Argument = ...,
        whole: _Argument = ...,
        backoff: _Argument = ...,
    ) -> float: ...

class _hops:
    def delay(
        self,
        *,
        hops: _Argument,
        packet: _Argument = ...,
        data_rate: _Argument = ...,
        overhead: _Argument = ...,
        basic: _Argument = ...,
        preamble: _Argument = ...,
        sifs: _Argument = ...,
        slot: _Argument = ...,
        whole: _Argument = ...,
        protected: _Argument = ...,
        propagation: _Argument = ...,
        backoff: _Argument = ...,
        link_layer: _Argument = ...,
    ) -> float: ...

class _tcp_ap:
    def delay(
        self,
        *,
        rtt: _Argument,
        hops: _Argument,
        data: _Argument = ...,
        ack: _Argument = ...,
        capacity: _Argument = ...,
        available: _Argument = ...,
        printed: _Argument = ...,
    ) -> float: ...
    def contention(self, *, nodes: _Argument) -> float: ...

class _rcp:
    def rest_rate(self, *, capacity: _Argument, n: _Argument, utilisation: _Argument = ...) -> float: ...
    def factor(
        self,
        *,
        capacity: _Argument,
        load: _Argument,
        rtt: _Argument,
        interval: _Argument,
        queue: _Argument = ...,
        alpha: _Argument = ...,
        beta: _Argument = ...,
        utilisation: _Argument = ...,
    ) -> float: ...

class _l4s:
    def window(
        self,
        *,
        p: _Argument,
        rtt: _Argument,
        target: _Argument = ...,
        independent: _Argument = ...,
    ) -> float: ...
    def rate(self, *, p: _Argument, rtt: _Argument, target: _Argument = ..., independent: _Argument = ...) -> float: ...
    def classic_window(self, *, p: _Argument, cubic: _Argument = ...) -> float: ...
    def coupling(
        self,
        *,
        rtt: _Argument,
        target: _Argument = ...,
        classic_delay: _Argument = ...,
        l4s_delay: _Argument = ...,
        k: _Argument = ...,
        cubic: _Argument = ...,
        independent: _Argument = ...,
    ) -> float: ...
    def pair(self, *, rtt_1: _Argument, rtt_2: _Argument, target: _Argument = ...) -> float: ...
    def step_window(self, *, p: _Argument) -> float: ...
    def sawtooth(self, *, window: _Argument) -> float: ...

def contention_fit(*, n: _Argument) -> float: ...

class _tables:
    def bianchi(
        self,
        *,
        stations: _Values = ...,
        endless: bool = ...,
        standard: _Values = ...,
        rate: _Values = ...,
        basic: _Values = ...,
        packet: _Values = ...,
        set: _Texts = ...,
        attempts: _Values = ...,
    ) -> _Rows: ...
    def fcwa(
        self,
        *,
        up: _Values = ...,
        down: _Values = ...,
        ack: _Values = ...,
        delay: _Values = ...,
        standard: _Values = ...,
        rate: _Values = ...,
        basic: _Values = ...,
        packet: _Values = ...,
        set: _Texts = ...,
        attempts: _Values = ...,
        buffer: _Values = ...,
    ) -> _Rows: ...
    def buffer(
        self,
        *,
        up: _Values = ...,
        down: _Values = ...,
        ack: _Values = ...,
        delay: _Values = ...,
        standard: _Values = ...,
        rate: _Values = ...,
        basic: _Values = ...,
        packet: _Values = ...,
        set: _Texts = ...,
        attempts: _Values = ...,
        window: _Values = ...,
    ) -> _Rows: ...
    def jersey(
        self,
        *,
        wireless: _Values = ...,
        congestion: _Values = ...,
        accuracy: _Values = ...,
        accuracy_congestion: _Values = ...,
        rtt: _Values = ...,
        delay: _Values = ...,
    ) -> _Rows: ...
    def padhye(
        self,
        *,
        loss: _Values = ...,
        rtt: _Values = ...,
        timeout: _Values = ...,
        ack: _Values = ...,
        window: _Values = ...,
        packet: _Values = ...,
    ) -> _Rows: ...
    def aiad(
        self,
        *,
        sources: _Values = ...,
        capacity: _Values = ...,
        delay: _Values = ...,
        queue: _Values = ...,
        alpha: _Values = ...,
        exponent: _Values = ...,
    ) -> _Rows: ...
    def gaiad(
        self,
        *,
        sources: _Values = ...,
        alpha: _Values = ...,
        beta: _Values = ...,
        capacity: _Values = ...,
        exponent: _Values = ...,
        steps: _Values = ...,
        as_printed: bool = ...,
    ) -> _Rows: ...
    def hash(
        self,
        *,
        stations: _Values = ...,
        slots: _Values = ...,
        dist: _Values = ...,
        weights: _Values = ...,
        collisions: _Values = ...,
        success_wait: _Values = ...,
        collision_wait: _Values = ...,
        within: _Values = ...,
        corrupted: _Values = ...,
    ) -> _Rows: ...
    def backoff_cost(
        self,
        *,
        stations: _Values = ...,
        slots: _Values = ...,
        cost: _Values = ...,
        form: _Values = ...,
        as_printed: bool = ...,
        per_success: bool = ...,
        points: _Values = ...,
    ) -> _Rows: ...
    def rt_winf(
        self,
        *,
        packet: _Values = ...,
        rate: _Values = ...,
        basic: _Values = ...,
        overhead: _Values = ...,
        whole: bool = ...,
        backoff: _Values = ...,
    ) -> _Rows: ...
    def hops(
        self,
        *,
        packet: _Values = ...,
        rate: _Values = ...,
        basic: _Values = ...,
        overhead: _Values = ...,
        whole: bool = ...,
        hops: _Values = ...,
        rts: bool = ...,
        propagation: _Values = ...,
        backoff: _Values = ...,
        link_layer: _Values = ...,
    ) -> _Rows: ...
    def ppdu(
        self,
        *,
        standard: _Values = ...,
        band: _Values = ...,
        width: _Values = ...,
        streams: _Values = ...,
        mcs: _Values = ...,
        guard: _Values = ...,
        psdu: _Values = ...,
        fec: _Values = ...,
        packet_padding: _Values = ...,
        extended_range: bool = ...,
        ns3: bool = ...,
    ) -> _Rows: ...
    def ampdu(
        self,
        *,
        rate: _Values = ...,
        aggregate: _Values = ...,
        packet: _Values = ...,
        backoff: _Values = ...,
    ) -> _Rows: ...
    def l4s(
        self,
        *,
        rtt: _Values = ...,
        marks: _Values = ...,
        target: _Values = ...,
        classic_delay: _Values = ...,
        l4s_delay: _Values = ...,
        coupling: _Values = ...,
        packet: _Values = ...,
    ) -> _Rows: ...
    def cycle_time(
        self,
        *,
        standard: _Values = ...,
        rate: _Values = ...,
        basic: _Values = ...,
        packet: _Values = ...,
        set: _Texts = ...,
        attempts: _Values = ...,
    ) -> _Rows: ...

bianchi: _bianchi
two_station: _two_station
cycle_time: _cycle_time
fcwa: _fcwa
ampdu: _ampdu
padhye: _padhye
jersey: _jersey
aiad: _aiad
gaiad: _gaiad
hash: _hash
tcf: _tcf
permutation: _permutation
backoff_cost: _backoff_cost
rt_winf: _rt_winf
hops: _hops
tcp_ap: _tcp_ap
rcp: _rcp
l4s: _l4s
tables: _tables
