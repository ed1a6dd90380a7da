/** The viewer on the terminal of this process, until somebody quits. */
import type { Size } from "../terminal/canvas.ts";
import type { FoundRun } from "./find-runs.ts";
import { KeyReader } from "../terminal/keys.ts";
import type { Page, ViewContext } from "./page.ts";
import { BrowserPage } from "./pages/browser-page.ts";
import { RunPage } from "./pages/run-page.ts";
import { RunInfos } from "./run-infos.ts";
import { Screen } from "./screen.ts";
import { Viewer } from "./viewer.ts";

/** News that come close together are drawn once. */
const REDRAW_MS = 25;
/** How long an ESC waits for the rest of a sequence. */
const ESCAPE_MS = 50;

/** Where the viewer is shown. */
export interface ViewTerminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly colours: boolean;
}

/** The first page: the tree, or the run when there is only that one and it was named. */
export const firstPage = (context: ViewContext, named: FoundRun | null): Page => (named === null ? new BrowserPage(context) : new RunPage(context, named));

/** Ends when somebody quits or the terminal goes; throws what went wrong in a page, with the terminal as it was before. */
export async function show(runs: readonly FoundRun[], named: FoundRun | null, { input, output, colours }: ViewTerminal): Promise<void> {
  const screen = new Screen((text) => output.write(text), colours);
  const keys = new KeyReader();
  let redraw: NodeJS.Timeout | null = null;
  let unsure: NodeJS.Timeout | null = null;
  let finish: (error: unknown) => void = () => undefined;
  const finished = new Promise<unknown>((resolve) => {
    finish = resolve;
  });
  const changed = (): void => {
    redraw ??= setTimeout(draw, REDRAW_MS);
  };
  const context: ViewContext = { runs, infos: new RunInfos(changed), changed, work: (task) => void task.catch(finish) };
  const viewer = new Viewer(firstPage(context, named), (text) => output.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`));
  const size = (): Size => ({ columns: output.columns || 80, rows: output.rows || 24 });
  function draw(): void {
    if (redraw !== null) clearTimeout(redraw);
    redraw = null;
    try {
      screen.draw(viewer.draw(size()));
    } catch (error) {
      finish(error);
    }
  }
  // One key after the other: a page that is being closed gets no more.
  let handled: Promise<unknown> = Promise.resolve();
  const press = (pressed: readonly string[]): void => {
    for (const key of pressed) {
      if (key === "suspend") suspend();
      else if (key === "redraw") screen.forget();
      handled = handled.then(async () => {
        if (await viewer.key(key)) finish(null);
      });
      handled.catch(finish);
    }
    handled.then(changed, finish);
  };
  const onData = (chunk: Buffer | string): void => {
    if (unsure !== null) clearTimeout(unsure);
    press(keys.push(chunk.toString()));
    if (keys.waiting) unsure = setTimeout(() => press(keys.flush()), ESCAPE_MS);
  };
  const onResize = (): void => {
    screen.forget();
    draw();
  };
  const onEnd = (): void => finish(null);
  const take = (): void => {
    input.setRawMode(true);
    input.resume();
    screen.enter();
    draw();
  };
  const give = (): void => {
    screen.leave();
    if (input.isTTY) input.setRawMode(false);
    input.pause();
  };
  /** Ctrl-Z: the shell gets its terminal back, `fg` draws anew. */
  function suspend(): void {
    give();
    process.once("SIGCONT", take);
    process.kill(process.pid, "SIGTSTP");
  }

  input.setEncoding("utf8");
  input.on("data", onData).on("end", onEnd).on("error", onEnd);
  output.on("resize", onResize);
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) process.on(signal, onEnd);
  try {
    take();
    const error = await finished;
    if (error !== null) throw error;
  } finally {
    for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) process.off(signal, onEnd);
    process.off("SIGCONT", take);
    input.off("data", onData).off("end", onEnd).off("error", onEnd);
    output.off("resize", onResize);
    for (const timer of [redraw, unsure]) if (timer !== null) clearTimeout(timer);
    give();
    await viewer.end();
  }
}
