"""numba's types of states."""

from numba.core import types

from hpcsched.dispatching.core.state_types import state_type


def test_fields_have_the_types_of_their_kinds() -> None:
    """Numbers, None, and arrays with their dimensions and order; `r` is for read-only."""
    fields = state_type("a:int b:NoneType c:<i8,2,C, d:<i4,1,A,r e:StateFunction").field_dict
    assert (fields["a"], fields["b"], fields["e"]) == (types.int64, types.none, types.int64)
    assert (fields["c"].dtype, fields["c"].ndim, fields["c"].layout) == (types.int64, 2, "C")
    assert (fields["d"].dtype, fields["d"].layout) == (types.int32, "A")
    assert (fields["c"].mutable, fields["d"].mutable) == (True, False)


def test_states_of_equal_kinds_have_one_type() -> None:
    """The type is part of the name of compiled code, so it must not depend on values."""
    assert state_type("a:int b:bool") == state_type("a:int b:bool")
    assert state_type("a:int b:bool") != state_type("a:int b:float")
    assert state_type("a:int b:bool").name != state_type("a:int b:float").name
