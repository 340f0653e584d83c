"""Results are the same to the byte whatever instructions the processor has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SMALL = Path(__file__).parents[1] / "scenarios" / "small-easy.yaml"
RUNS = (
    "import sys, hpcsched\n"
    "folder, scenario, *dispatchers = sys.argv[1:]\n"
    "for k, one in enumerate(dispatchers):\n"
    "    changes = ['trace.jobs=120', f'dispatcher={one}', 'objective={name: psf, alpha: 1.5}']\n"
    "    hpcsched.run(hpcsched.load_scenario(scenario, changes), f'{folder}/{k}')\n"
)
DISPATCHERS = (
    "{name: easy, order: f1}",
    "{name: easy, order: wfp3}",
    "{name: list, order: unicef, option: greedy}",
    "{name: easy, order: multifactor}",
    "{name: order-search, budget: 300, surrogate_objective:"
    " {discount_time_constant: 1h, area_exponent: 0.3}}",
)
OLDER = {
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR AVX2 FMA3",
    "OPENBLAS_CORETYPE": "Nehalem",
}
"""An x86-64 without fused products, for the C library, NumPy and its linear algebra."""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="instructions are glibc's")
def test_an_older_processor_gives_the_same_bytes(tmp_path: Path) -> None:
    """Logarithms and powers decide orders, searches and metrics in these runs."""
    for name, environment in (("here", {}), ("older", OLDER)):
        command = [sys.executable, "-c", RUNS, str(tmp_path / name), str(SMALL), *DISPATCHERS]
        subprocess.run(command, check=True, env=os.environ | environment)
    for k in range(len(DISPATCHERS)):
        for file in ("jobs.parquet", "summary.json"):
            here, older = (tmp_path / name / str(k) / file for name in ("here", "older"))
            assert here.read_bytes() == older.read_bytes(), (DISPATCHERS[k], file)
