/** What a step leaves in GITHUB_OUTPUT or GITHUB_ENV: `name=value`, or `name<<END`, lines, `END`. Throws, as GitHub's runner does, for any other line. */
export function readAssignments(text: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? "";
    const several = /^([^=<]+)<<(.+)$/.exec(line);
    const one = /^([^=]+)=(.*)$/s.exec(line);
    if (several !== null) {
      const [, name = "", end = ""] = several;
      const last = lines.indexOf(end, i + 1);
      if (last < 0) throw new Error(`${name} does not end: there is no line ${end}`);
      found[name] = lines.slice(i + 1, last).join("\n");
      i = last;
    } else if (one !== null) found[one[1] ?? ""] = one[2] ?? "";
    else if (line !== "") throw new Error(`no assignment: ${line}`);
  }
  return found;
}
