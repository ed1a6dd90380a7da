import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { uploadDigestsIn } from "../../../src/config/upload-digests.ts";
import type { RunUploads } from "../control.ts";
import type { RunHead } from "../state/head.ts";

/** The folder's upload is needed until its rows are taken over, or copied to be scored again; the data set for as long as the run may grow, which is always. */
export function uploadsOf(
  { env_args, extra_env_kwargs, rescored_from }: RunConfig,
  { import: taken, pinned_for }: Pick<RunHead, "import" | "pinned_for">,
): RunUploads {
  const scored = pinned_for === null ? rescored_from?.results : undefined;
  const source = scored === undefined ? taken : { results: scored, in_parts: true };
  return {
    digests: [...new Set([...uploadDigestsIn(env_args, extra_env_kwargs), ...(source === null ? [] : [source.results])])],
    manifest: source?.in_parts === true ? source.results : null,
  };
}
