/** At most so many characters of a body that somebody else wrote; the rest is not read. Never rejects: of what breaks off there is what came, a status that came stands. */
export async function beginningOf(response: Response, chars: number): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  try {
    while (text.length < chars) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    await reader.cancel();
  } catch {
    // What came of it is kept.
  }
  return text.slice(0, chars);
}
