"""print_time_stamp: exact text."""

from __future__ import annotations

import pytest
from basic_machine import launch, order, ub

from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError
from ascsim.language.basic import duplicate, get_program_counter, get_system_cycle, print_time_stamp
from ascsim.language.core import HardEvent, ir_value
from ascsim.language.core import dtype as dt


def test_the_line_of_a_time_stamp(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[int] = []

    def body() -> None:
        for number in (65577, ir_value.Int32(11)):
            duplicate(ub(dt.float32), 1, 16384)
            order(HardEvent.V_S)
            print_time_stamp(number)
            seen.append(get_system_cycle().v)
        seen.append(get_program_counter().v)

    launch(body)
    first, second = capsys.readouterr().out.splitlines()
    early, late, counter = seen
    assert 0 < early < late
    head = "[AIV Block 0/1] descId is"
    assert first.startswith(f"{head} 65577, rsv is 0, timeStamp is {early}, pcPtr is ")
    assert second.startswith(f"{head} 11, rsv is 0, timeStamp is {late}, pcPtr is ")
    assert first.endswith(", entry is 0.")
    counters = {line.split("pcPtr is ")[1].split(",")[0] for line in (first, second)}
    assert len(counters) == 1  # one line of the author
    assert 0 < int(counters.pop()) < counter


def test_bad_numbers() -> None:
    for number, nearest in ((-1, 0), (1 << 32, (1 << 32) - 1)):
        with pytest.raises(ArgumentValueError, match=f"^print_time_stamp: desc_id = {number}; .*value: {nearest}$"):
            launch(lambda number=number: print_time_stamp(number))
    with pytest.raises(ArgumentTypeError, match=r"^print_time_stamp: desc_id = 'x'"):
        launch(lambda: print_time_stamp("x"))
