import type { CliProcess, Workplace } from "../cli/cli-process.ts";
import { PATIENCE_MS } from "./dashboard-place.ts";

/** The command that shows results folders in the dashboard, and where: without a slash at its end. */
export interface ViewedFolders {
  readonly viewing: CliProcess;
  readonly address: string;
}

/** Of all results folders of a place; its `remove` ends it. */
export async function viewFolders(place: Workplace): Promise<ViewedFolders> {
  const viewing = place.start(["eval", "view", "--web", "--print"]);
  await viewing.says("Ctrl-C ends this", PATIENCE_MS);
  const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(viewing.stdout()) ?? [];
  if (address === undefined) throw new Error(`no address in ${viewing.stdout()}`);
  return { viewing, address };
}
