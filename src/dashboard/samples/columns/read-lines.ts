/** Lines of an answer as they come. The last one counts without its line feed too. Rejects where the answer breaks off. */
export async function* readLines(response: Response): AsyncGenerator<string> {
  let rest = "";
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield line;
  }
  if (rest !== "") yield rest;
}
