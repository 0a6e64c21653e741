"""Fixtures of pytest: simulated networks.

`mokume_network` is a `Network` for one test; `mokume_simulate` runs a `network` of a file beside the test. `--mokume-seed` says where chance
starts, `@pytest.mark.mokume_seeds(20)` runs a test with so many seeds. A test that fails shows the seed, and the frames that went last.
"""

from pathlib import Path

import pytest

#: Frames that a failing test shows.
SHOWN = 20


def pytest_addoption(parser):
    group = parser.getgroup("mokume")
    group.addoption("--mokume-seed", type=int, default=1, metavar="NUMBER", help="where the chance of networks starts")


def pytest_configure(config):
    config.addinivalue_line("markers", "mokume_seeds(count): runs the test with so many seeds of its network")


def pytest_generate_tests(metafunc):
    if "mokume_seed" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("mokume_seeds")
        first = metafunc.config.getoption("--mokume-seed")
        count = marker.args[0] if marker else 1
        metafunc.parametrize("mokume_seed", range(first, first + count), ids=lambda seed: f"seed {seed}")


@pytest.fixture
def mokume_network(mokume_seed, request):
    """A network in virtual time, of this test alone."""
    from .network import Network

    network = Network(mokume_seed)
    request.node._mokume_network = network
    yield network
    for host in network.hosts.values():
        host.stop()


@pytest.fixture
def mokume_simulate(mokume_seed, request):
    """Runs a `network` of a file, by its path from the test's folder: `mokume_simulate("plant.mok")`. What the network expects must hold."""
    from . import command

    def simulate(file, **more):
        more.setdefault("seed", mokume_seed)
        record = command.simulate(Path(request.path).parent / file, **more)
        if record.failed:
            said = "\n".join(f"{one['place']}: {one['failed'] or one['found']}: {one['found']}\n  again: {one['replay']}" for one in record.failed)
            pytest.fail(f"the network is not as it expects:\n{said}", pytrace=False)
        return record

    return simulate


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    network = getattr(item, "_mokume_network", None)
    if network is None or report.when != "call" or not report.failed:
        return
    lines = [f"seed {network.seed}, at {network.now} ns, {len(network.frames)} frames seen; the last:"]
    for frame in network.frames[-SHOWN:]:
        octets = frame.octets.hex()
        short = octets if len(octets) <= 64 else octets[:64] + "…"
        lines.append(f"{frame.at:>14} {frame.number:>5} {frame.what:<7} {frame.host}.{frame.port} {short}")
    report.sections.append(("mokume network", "\n".join(lines)))
