#!/bin/sh
# Make report.png, the picture of the README, from the page that its commands make: sh docs/images/report.sh
set -e
picture=$(cd "$(dirname "$0")" && pwd)/report.png
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
tuner tune classic samples -o learned.yaml --run run
tuner match learned.yaml classic --depth 4 --games 400 --run match
tuner report run --match match -o page.html
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir=profile \
    --window-size=1200,1000 --screenshot="$picture" "file://$work/page.html"
