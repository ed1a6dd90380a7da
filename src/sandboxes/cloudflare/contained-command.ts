import { quoted } from "../../environments/sandbox/shell-words.ts";
import { MAX_SANDBOX_OUTPUT_BYTES } from "../../limits.ts";

/** A container that slept is another one, though it is called the same: what was made in the first is told by this folder. */
export const markOf = (id: string): string => `/tmp/.edgewise-${id}`;

/** Makes the mark, with the variables that commands are to have. */
export function marking(id: string, variables: Readonly<Record<string, string>>): string {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}`);
  return `mkdir -p ${markOf(id)} && printf '%s\\n' ${lines.length === 0 ? "''" : lines.map(quoted).join(" ")} > ${markOf(id)}/env`;
}

/** `$0` is the mark, `$1` the time in seconds, `$2` the command line and `$3` where it begins. Tells `STATUS BYTES BYTES` in a line before the outputs; the status may be `gone` or `late`. */
const RUNNER = `
[ -e "$0/env" ] || { echo gone 0 0; exit 0; }
d=$(mktemp -d) || exit 1
set -a; . "$0/env"; set +a
if [ -n "$3" ]; then cd "$3" 2>"$d/e" || { : > "$d/o"; echo "1 0 $(wc -c < "$d/e")"; cat "$d/e" >&2; rm -rf "$d"; exit 0; }; fi
setsid sh -c "$2" > "$d/o" 2> "$d/e" < /dev/null & p=$!
setsid sh -c 'sleep "$1"; : > "$0/late"; kill -9 -- "-$2" 2>/dev/null' "$d" "$1" "$p" > /dev/null 2>&1 < /dev/null & w=$!
wait "$p" 2>/dev/null; c=$?
kill -9 -- "-$w" 2>/dev/null
[ -e "$d/late" ] && c=late
echo "$c $(($(wc -c < "$d/o"))) $(($(wc -c < "$d/e")))"
head -c ${MAX_SANDBOX_OUTPUT_BYTES} "$d/o"; head -c ${MAX_SANDBOX_OUTPUT_BYTES} "$d/e" >&2
rm -rf "$d"; exit 0`;

/** The command line of the container's shell that runs `command`, ends it with all that it started when its time is over, and gives of its outputs what may be had. */
export const contained = (id: string, command: string, seconds: number, workingDir: string | null): string =>
  `sh -c ${quoted(RUNNER)} ${markOf(id)} ${seconds} ${quoted(command)} ${quoted(workingDir ?? "")}`;

export interface Contained {
  /** `gone`: the sandbox has ended; `late`: the command took longer than it may. */
  readonly status: number | "gone" | "late";
  readonly stdout: string;
  /** Bytes of the outputs, of which some may be left out. */
  readonly bytes: readonly [number, number];
}

/** What it said; null for what it does not say. */
export function containedOf(stdout: string): Contained | null {
  const said = /^(\d+|gone|late) (\d+) (\d+)\n/.exec(stdout);
  if (said === null) return null;
  const [line, status = "", out, err] = said;
  return { status: status === "gone" || status === "late" ? status : Number(status), stdout: stdout.slice(line.length), bytes: [Number(out), Number(err)] };
}
