"""Play in xboard, WinBoard and other programs of the Chess Engine Communication Protocol, with your
parameters."""

from tuner.commands.serving import serve, serving_table
from tuner.options.option import Arguments

USAGE = "[PARAMS] [--learn [FILE]] [--terms FILE]"
EXAMPLE = """examples:
  tuner xboard learned.yaml
  xboard -fcp "tuner xboard my.yaml --learn" -scp phalanx -mg 10
  tuner match "xboard:tuner xboard learned.yaml" xboard:fairymax --depth 3
"""
TABLE = serving_table("classic", learns=True)


def run(arguments: Arguments) -> None:
    if "learn" in arguments.given:  # what learns takes longer to load than xboard waits
        print("feature done=0", flush=True)
    serve(arguments, "chess", "xboard_server", remark="tellusererror")
