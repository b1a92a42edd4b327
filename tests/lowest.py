"""Print the lowest version of each package that setup.cfg allows, as constraints of pip."""

import configparser
import re
from pathlib import Path

SETUP = Path(__file__).resolve().parents[1] / "setup.cfg"


def main() -> None:
    config = configparser.ConfigParser()
    config.read(SETUP)
    for line in config["options"]["install_requires"].split():
        name, version = re.match(r"([\w-]+)>=([\d.]+)", line).groups()
        print(f"{name}=={version}")


if __name__ == "__main__":
    main()
