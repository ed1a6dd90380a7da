import { EdgewiseError } from "../../../src/errors/result.ts";

/** `what` says what of a run has that version. */
export const storedByAnother = (what: string, version: string, known: number): EdgewiseError =>
  new EdgewiseError("stored_version_unknown", `This run ${what} ${version}; this version knows ${known}.`, {
    hint: "Deploy the version of edgewise that stored it again, or a newer one.",
  });
