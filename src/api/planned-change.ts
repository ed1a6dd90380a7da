import { z } from "zod";
import { teamQuery } from "./people/people-schemas.ts";

/** What a `PUT` changes of what there is, which `dry_run` asks for without changing it. */

export const putQuery = z.strictObject({
  ...teamQuery.shape,
  dry_run: z.enum(["true", "false"]).default("false").describe("With `true` nothing is stored: what would change is told."),
});

export const plannedFields = {
  change: z.enum(["add", "change", "none"]),
  fields: z.array(z.string()).describe("What is otherwise, or would be."),
};

/** `fields`: null = there is none of this name. */
export const plannedChange = (fields: readonly string[] | null): { readonly change: "add" | "change" | "none"; readonly fields: readonly string[] } => ({
  change: fields === null ? "add" : fields.length === 0 ? "none" : "change",
  fields: fields ?? [],
});
