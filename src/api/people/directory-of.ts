import type { Context } from "hono";
import type { DirectoryControl } from "../../../durable-objects/directory/directory-control.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { ownTeam } from "../access/team-of-request.ts";
import type { AppContext } from "../app-context.ts";

/** A fresh stub of the Directory. Throws where the deployment has none. */
export function directoryOf(c: Context<AppContext>): DirectoryControl {
  const { directory } = c.var.ports;
  if (directory !== null) return directory;
  throw new EdgewiseError("not_found", "This deployment has no Directory: it has its owner, and no teams or tokens.", {
    hint: "Take its binding and migration over from the wrangler.toml of this version, export Directory from the main module, and deploy.",
  });
}

/** The team that is administered: any for the owner, one of their own for others. */
export const administered = (c: Context<AppContext>, wanted: string | undefined): string =>
  wanted === undefined ? c.var.ports.team : c.var.caller.owner ? wanted : ownTeam(c.var.caller, wanted);
