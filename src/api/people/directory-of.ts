import type { Context } from "hono";
import type { DirectoryControl } from "../../../durable-objects/directory/directory-control.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { ownTeam } from "../access/team-of-request.ts";
import type { AppContext } from "../app-context.ts";
import { readTwice } from "../read-twice.ts";

/** A fresh stub of the Directory. Throws where the deployment has none. */
export function directoryOf(c: Context<AppContext>): DirectoryControl {
  const { directory } = c.var.ports;
  if (directory !== null) return directory;
  throw new EdgewiseError("not_found", "This deployment has no Directory: it has its owner, and no teams or tokens.", {
    hint: "Take its binding and migration over from the wrangler.toml of this version, export Directory from the main module, and deploy.",
  });
}

export const isThere = (c: Context<AppContext>, team: string): Promise<boolean> =>
  readTwice(
    () => directoryOf(c),
    (directory) => directory.isTeam(team),
  );

/** The team that is administered: any that there is for the owner, one of their own for others. */
export async function administered(c: Context<AppContext>, wanted: string | undefined): Promise<string> {
  const { caller, ports } = c.var;
  if (wanted === undefined || wanted === ports.team) return ports.team;
  if (!caller.owner) return ownTeam(caller, wanted);
  if (await isThere(c, wanted)) return wanted;
  throw new EdgewiseError("not_found", "There is no such team.", { hint: "`npx edgewise team list` shows those there are." });
}
