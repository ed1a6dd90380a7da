import type { Viewer } from "../viewer.ts";

/** What became of something whose address answers that there is no such thing: of folders nobody else has any, and files move. */
export const absenceText = ({ folders }: Pick<Viewer, "folders">, what: "it" | "they"): string => {
  const [was, is] = what === "it" ? ["It was", "is"] : ["They were", "are"];
  return folders === "" ? `${was} deleted, or ${is} another team's.` : `${was} moved or deleted, or ${is} in none of the folders that are shown.`;
};
