"""Puts the compiler into the wheel: the command and its library, as `MOKUME_BUILT` (a folder) has them.

The library is reached through C, so one wheel is for every Python; it is for one kind of machine.
"""

import os
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Carried(BuildHookInterface):
    def initialize(self, version, build_data):
        if version == "editable":
            return
        built = os.environ.get("MOKUME_BUILT")
        if not built:
            raise SystemExit("MOKUME_BUILT names no folder with `mokume` and `libmokume_embed.so`: use scripts/wheel")
        for name in ("mokume", "libmokume_embed.so"):
            file = Path(built) / name
            if not file.is_file():
                raise SystemExit(f"there is no {file}: use scripts/wheel")
            build_data["force_include"][str(file)] = f"mokume/carried/{name}"
        platform = os.environ.get("MOKUME_PLATFORM") or sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
