"""The Python packages of solvers that hpcsched does not depend on."""

from hpcsched.registration import OptionalPackage

CHOCO = OptionalPackage("solver choco", "pychoco", "pychoco", "choco")
PUMPKIN = OptionalPackage("solver pumpkin", "pumpkin_solver", "pumpkin-solver", "pumpkin")
Z3 = OptionalPackage("solver z3", "z3", "z3-solver", "z3")
EXACT = OptionalPackage("solver exact", "exact", "exact", "exact")
CPO = OptionalPackage("solver cpo", "docplex", "docplex", "cpo")
