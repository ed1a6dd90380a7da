import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StoredEvent } from "../../../src/logging/stored-event.ts";
import { forMarkup, withoutMarkup } from "../../../src/report/text/client-markup.ts";
import { clientLog, logLine } from "../../../src/report/logs/log-tail.ts";
import { CONFIG, openDoor, viewFor } from "../../support/door/fake-ports.ts";

/**
 * What the `prime` client 0.18.0 does to a line before it stands on the terminal: progress bars dropped, emoji codes replaced,
 * Rich's tags interpreted. Null: the line is not shown as it is.
 */
function shown(line: string): string | null {
  if (/\|[█▏▎▍▌▋▊▉ ]{10,}\|/.test(line) || /\d+%\|/.test(line)) return null;
  const withoutEmoji = (text: string): string =>
    text.replace(/:(\S*?):/g, (code, name: string) => (/^(smile|100|boom|-1|red_heart)(-emoji|-text)?$/i.test(name) ? "☺" : code));
  let text = "";
  let at = 0;
  for (const match of line.matchAll(/(\\*)\[([a-z#/@][^[]*?)\]/g)) {
    const [whole, slashes = ""] = match;
    text += withoutEmoji(line.slice(at, match.index)).replaceAll("\\[", "[");
    text += "\\".repeat(slashes.length >> 1);
    if (slashes.length % 2 === 0) return null;
    text += whole.slice(slashes.length);
    at = match.index + whole.length;
  }
  return text + withoutEmoji(line.slice(at)).replaceAll("\\[", "[");
}
const seen = (text: string | null): string | null => text?.replaceAll("\u200c", "") ?? null;

const NASTY = [
  "[info] [x=1] [red]r[/red] [/foo] [@click=app.bell] [#ff0000]",
  String.raw`\[bar] \\[bar] \\\[/bar] [a\] \[ \\[1] ]`,
  '[INFO] [1/2] {"a":[1]} [[a]] [a[b]c] [unclosed',
  ":smile: ::smile:: :100: :-1: :red_heart-text: :a:smile:b: 12:30:45",
  "50%| half",
  "100%|██████████| 3/3",
  "|██████████|",
  "|          |",
  "a |▌▌▌▌▌▌▌▌▌▌▌▌| b",
  String.raw`ends with \ `.trim(),
];

describe("a line for a client that reads markup", () => {
  it.each(NASTY)("is shown as it was written: %s", (line) => {
    expect(seen(shown(forMarkup(line)))).toBe(line);
  });

  it("is shown as it was written, whatever a model puts together", () => {
    const piece = fc.constantFrom(..."[ ] \\ [[ ]] / # @ : smile 100 a B 1 | % 7% ██████████ :: = -text".split(" "), " ", "          ");
    void fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
        expect(seen(shown(forMarkup(pieces.join(""))))).toBe(pieces.join(""));
      }),
      { numRuns: 3_000 },
    );
  });

  it("stays as it is where nothing would happen to it", () => {
    const line = "2026-11-21 12:30:45 - edgewise.run - INFO - Run 0000abcd created: gsm8k, openai/gpt-4.1-mini at http://127.0.0.1:8000/v1: [1/2]";
    expect(forMarkup(line)).toBe(line);
    expect(withoutMarkup(line)).toBe(line);
  });

  it("of text that others read too carries no backslash", () => {
    for (const line of NASTY.filter((each) => !/\d%\||\|[█▌ ]/.test(each))) {
      expect(seen(shown(withoutMarkup(line)))).toBe(line);
      expect(seen(withoutMarkup(line))).toBe(line);
    }
  });
});

const event = (seq: number, message: string, level: StoredEvent["level"] = "INFO"): StoredEvent => ({
  seq,
  time: 1_790_000_000_000 + seq,
  type: "log",
  level,
  message,
  rollouts: 0,
});
const ID = CONFIG.run_id;

describe("the log of a run as the client polls it", () => {
  const logsOf = async (stored: StoredEvent[]): Promise<unknown> => {
    const door = openDoor();
    door.run(ID).state = viewFor(CONFIG);
    door.run(ID).stored = stored;
    const response = await door.call("GET", `/hosted-evaluations/${ID}/logs`);
    expect(response.status).toBe(200);
    return response.json();
  };

  it("is null before the first line, and one text afterwards", async () => {
    expect(await logsOf([])).toEqual({ logs: null });
    expect(await logsOf([event(1, "a"), { ...event(2, ""), type: "commit" }, event(3, "b [/x]", "ERROR")])).toEqual({
      logs: "2026-09-21 14:13:20 - edgewise.run - INFO - a\n2026-09-21 14:13:20 - edgewise.run - ERROR - b \\[/x]\n",
    });
  });

  it("has one line for each event, whatever a model has put into it", async () => {
    const message = "one\ntwo\r\nthree\u2028four\u0085\u000bfive\u001b[31mred\u001b]0;title\u0007\u0000\u009b2J\u202eevil";
    const { logs } = (await logsOf([event(1, message)])) as { logs: string };
    expect(logs.split("\n")).toEqual([expect.stringContaining(" - INFO - one\\ntwo\\nthree\\nfourfivered2Jevil"), ""]);
    expect(logs).toMatch(/^[\u0020-\u007e\u200c]*\n$/u);
  });

  it("is the newest thousand lines, each of bounded length", async () => {
    const { logs } = (await logsOf([
      ...Array.from({ length: 1_500 }, (_, index) => event(index + 1, `line ${index}`)),
      event(2_000, "x".repeat(10_000_000)),
    ])) as {
      logs: string;
    };
    const lines = logs.trimEnd().split("\n");
    expect([lines.length, lines[0]?.split(" - ").at(-1), lines.at(-2)?.split(" - ").at(-1)]).toEqual([1_000, "line 501", "line 1499"]);
    expect(lines.at(-1)?.length).toBe(2_001);
  });

  it("never rewrites a line that was served, so that the client finds what is new", () => {
    const stored = [event(1, "a :smile:"), event(2, "a :smile:"), event(3, "[x]")];
    const before = clientLog(stored.slice(0, 2)) ?? "";
    expect(clientLog(stored)?.startsWith(before)).toBe(true);
    expect(logLine(event(4, "y".repeat(5_000)))).toBe(logLine(event(4, "y".repeat(5_000))));
  });

  it("of a run that is not there is not found", async () => {
    expect((await openDoor().call("GET", `/hosted-evaluations/${ID}/logs`)).status).toBe(404);
  });
});
