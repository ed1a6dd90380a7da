import { z } from "zod";
import { BatchError } from "../pushed/scanned-sample.ts";

/** The part `metadata` of an upload. Its context says who sent it; what an evaluation is, whoever created it has said. */
export const uploadMetadata = z.looseObject({
  schema_version: z.literal(1),
  context: z.record(z.string(), z.string()).optional().describe("Of the upload, such as its source, framework and model."),
});

/** Throws a `BatchError` that names the field. `text`: null where there is no such part. */
export function checkMetadata(text: string | null): void {
  if (text === null) throw new BatchError("body", "must have a part metadata");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BatchError("metadata", "is no JSON");
  }
  const [issue] = uploadMetadata.safeParse(value).error?.issues ?? [];
  if (issue !== undefined) throw new BatchError(["metadata", ...issue.path.map(String)].join("."), issue.message);
}
