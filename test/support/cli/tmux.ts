/** A terminal to look at: tmux, which resizes, takes keys, and says what stands on the screen. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const hasTmux = (): boolean => spawnSync("tmux", ["-V"]).status === 0;

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export class TmuxTerminal {
  private readonly folder = mkdtempSync(join(tmpdir(), "edgewise-tmux-"));

  /** A terminal that runs a shell in `cwd` with nothing in its environment but `env`. */
  constructor({ columns, rows }: Size, cwd: string, env: Readonly<Record<string, string>>) {
    const settings = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
    const shell = `env -i TERM=screen-256color ${settings.join(" ")} PS1='$ ' sh`;
    this.tmux("-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", String(columns), "-y", String(rows), "-c", cwd, shell);
  }

  /** The lines on the screen, as many as it has. */
  screen(): readonly string[] {
    return this.tmux("capture-pane", "-p", "-t", "t").replace(/\n$/, "").split("\n");
  }

  /** The screen and everything that went off it at the top. */
  history(): string {
    return this.tmux("capture-pane", "-p", "-t", "t", "-S", "-");
  }

  /** Keys by tmux's names (`Left`, `C-c`). */
  press(...keys: readonly string[]): void {
    this.tmux("send-keys", "-t", "t", ...keys);
  }

  type(line: string): void {
    this.tmux("send-keys", "-t", "t", "-l", line);
    this.press("Enter");
  }

  resize({ columns, rows }: Size): void {
    this.tmux("resize-window", "-t", "t", "-x", String(columns), "-y", String(rows));
  }

  close(): void {
    spawnSync("tmux", ["-S", join(this.folder, "s"), "kill-server"]);
    rmSync(this.folder, { recursive: true, force: true });
  }

  private tmux(...args: readonly string[]): string {
    return execFileSync("tmux", ["-S", join(this.folder, "s"), ...args], { encoding: "utf8", env: { PATH: process.env.PATH ?? "", LANG: "C.UTF-8" } });
  }
}
