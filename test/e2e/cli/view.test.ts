import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until, Workplace } from "../../support/cli/cli-process.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

const command = fileURLToPath(new URL("../../../bin/edgewise.js", import.meta.url));
const emulator = spawnSync("tmux", ["-V"]).status === 0;
if (!emulator) console.log("skipped: tmux is not there (the viewer in a terminal emulator)");

let place: Workplace;
let model: ModelServer;
beforeAll(async () => {
  place = new Workplace();
  model = await startModelServer();
  await place.run(["eval", "run", "reverse-text", "-m", "scripted", "-b", model.url, "-n", "4", "-r", "2"]);
});
afterAll(async () => {
  place.remove();
  await model.close();
});

/** A terminal with the viewer in it, in a server of its own. */
class Emulator {
  private readonly name = `edgewise-${process.pid}`;

  constructor(columns: number, rows: number) {
    const script = `echo before; "${process.execPath}" "${command}" eval view; echo "code $?"; read typed; echo "typed $typed"; sleep 60`;
    this.tmux("-f", "/dev/null", "new-session", "-d", "-x", String(columns), "-y", String(rows), script);
  }

  get lines(): readonly string[] {
    return this.tmux("capture-pane", "-p").replace(/\n$/, "").split("\n");
  }

  /** Sends keys, then waits until the screen shows a text. */
  async to(text: string | RegExp, ...keys: readonly string[]): Promise<void> {
    for (const key of keys) this.tmux("send-keys", key);
    const screen = (): string => this.lines.join("\n");
    await until(
      () => (typeof text === "string" ? screen().includes(text) : text.test(screen())),
      20_000,
      () => `${text} in:\n${screen()}`,
    );
  }

  resize(columns: number, rows: number): void {
    this.tmux("resize-window", "-x", String(columns), "-y", String(rows));
  }

  close(): void {
    this.tmux("kill-server");
  }

  private tmux(...args: readonly string[]): string {
    return execFileSync("tmux", ["-L", this.name, ...args], { cwd: place.folder, encoding: "utf8" });
  }
}

describe("the viewer", () => {
  it.runIf(emulator)("goes through a run on a terminal, at every size, and leaves the terminal as it was", async () => {
    const terminal = new Emulator(80, 24);
    try {
      await terminal.to(/▾ reverse-text {2}1/);
      await terminal.to(/average reward\s+1\.000/, "End");
      await terminal.to(/with an error\s+0 of 8 \(0\.0 %\)/, "Enter");
      await terminal.to("Rollout 2 of 8", "Down", "Enter");
      for (const [columns, rows] of [
        [200, 50],
        [60, 12],
        [80, 24],
      ] as const) {
        terminal.resize(columns, rows);
        // First line and last line stand where they belong: nothing wrapped, nothing scrolled.
        const whole = (lines: readonly string[]): boolean =>
          lines.length === rows && (lines[0] ?? "").startsWith("Rollout 2 of 8") && (lines.at(-1) ?? "").startsWith("↑↓ · n p rollout");
        await until(
          () => whole(terminal.lines),
          20_000,
          () => `${columns} x ${rows}:\n${terminal.lines.join("\n")}`,
        );
        expect(terminal.lines.every((line) => [...line].length <= columns)).toBe(true);
      }
      await terminal.to(/completions 8 .*8 rollouts/, "s", "reversed_text", "Enter");
      await terminal.to("Rollout 3 of 8", "Down", "Down", "Enter");
      await terminal.to(/ - INFO - /, "l");
      await terminal.to(/before\s+code 0/, "q");
      // Typed text is shown and read by lines again.
      await terminal.to("typed abc", "abc", "Enter");
    } finally {
      terminal.close();
    }
  });

  it("prints what it finds where there is no terminal", async () => {
    const [id = ""] = readdirSync(join(place.results, ".."));
    const { code, stdout } = await place.run(["eval", "view"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^reverse-text\\n {2}scripted\\n {4}RUN .*\\n {4}${id}\\s+1\\.000\\s+8\\s+0\\.0 %`));
    expect((await place.run(["eval", "view", place.results])).stdout).toMatch(/status\s+COMPLETED/);
    expect(stdout).not.toContain("\u001b");
  });

  it("refuses flags of pages without --web, and ports that are none", async () => {
    for (const flags of [["--print"], ["--port", "8080"]]) {
      const { code, stderr } = await place.run(["eval", "view", ...flags]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${flags[0]} has no effect without --web`)]);
    }
    for (const port of ["70000", "-1", "x"]) {
      const { code, stderr } = await place.run(["eval", "view", "--web", "--port", port]);
      expect([code, stderr]).toEqual([2, expect.stringContaining("must be a whole number from 0 (a free one) to 65535")]);
    }
    expect(await place.run(["eval", "view", "--web", "nowhere"])).toMatchObject({ code: 2, stderr: expect.stringContaining("nowhere is not there") });
  });

  it("says of pages that cannot be shown why, and what to type", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as AddressInfo;
    const refused = await place.run(["eval", "view", "--web", "--print", "--port", String(port)]);
    await new Promise((resolve) => taken.close(resolve));
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`port ${port} cannot be listened at: another program listens there`) });
    expect(refused.stderr).toContain("Leave --port out, and a free one is taken: npx edgewise eval view --web");
    mkdirSync(join(place.folder, "none"));
    writeFileSync(join(place.folder, "notes.txt"), "");
    const none = await place.run(["eval", "view", "--web", "none"]);
    expect(none).toMatchObject({ code: 1, stderr: expect.stringMatching(/no results folder in none.*npx edgewise eval view --web PATH/s) });
    const file = await place.run(["eval", "view", "--web", "notes.txt"]);
    expect(file).toMatchObject({ code: 2, stderr: expect.stringMatching(/notes\.txt is a file of no results folder.*Name a results folder/s) });
  });
});
