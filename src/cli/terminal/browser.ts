/** The browser of whoever sits at this machine. */
import { spawn } from "node:child_process";
import { reasonOf } from "./cli-error.ts";

export interface BrowserCommand {
  readonly file: string;
  /** Before the address. */
  readonly args: readonly string[];
}

/** What failed to start has ended by then; one that goes on is the browser itself. */
const FAILS_WITHIN_MS = 2_000;

/** What opens an address; null where nobody would see it. */
export function browserOf(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): BrowserCommand | null {
  if (platform === "darwin") return { file: "open", args: [] };
  // `start` is a word of the shell, which would read an `&` of the address.
  if (platform === "win32") return { file: "rundll32", args: ["url.dll,FileProtocolHandler"] };
  return env.DISPLAY || env.WAYLAND_DISPLAY ? { file: "xdg-open", args: [] } : null;
}

/** Outlives this command. Resolves with what went wrong; null = nothing that could be seen. */
export function startBrowser(
  { file, args }: BrowserCommand,
  address: string,
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<string | null> {
  // Keys of models, and the service's own token, are none of its business.
  const passed = Object.fromEntries(Object.entries(env).filter(([name]) => !/KEY|TOKEN|SECRET|PASSWORD/i.test(name)));
  const child = spawn(file, [...args, address], { cwd, env: passed, detached: true, stdio: "ignore" });
  child.unref();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, FAILS_WITHIN_MS, null);
    const end = (problem: string | null): void => {
      clearTimeout(timer);
      resolve(problem);
    };
    child.once("error", (error) => end(reasonOf(error)));
    child.once("exit", (code) => end(code === 0 || code === null ? null : `${file} ended with code ${code}`));
  });
}
