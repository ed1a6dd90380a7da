import { isVersion } from "../../../published/published-version.ts";
import { publishedReference } from "../../../published/published-name.ts";
import type { FolderMetadata } from "../../results/resume-folder.ts";
import type { RunWish } from "../wish/run-wish.ts";

/**
 * What the run of a folder asks a service for that does not know it. Without a version `owner/name` would be the latest of a published environment, which may be other code than
 * the folder's by now: so it is the version of the folder, unless the command names one, or takes whatever code there is (`--accept-code-change`).
 */
export function environmentOfFolder(
  { envId, reference, given }: Pick<RunWish, "envId" | "reference" | "given">,
  { edgewise }: Pick<FolderMetadata, "edgewise">,
): string {
  if (publishedReference(envId) === null) return envId;
  if (reference.includes("@")) return reference;
  const version = edgewise?.env_version ?? null;
  return given.accept_code_change === true || version === null || !isVersion(version) ? envId : `${envId}@${version}`;
}
