// Makes the few sentences that the demo model writes itself, from a topic found in the message.

/** One short paragraph on any topic. */
export function paragraphAbout(topic: string): string {
  return [
    `${capitalize(topic)} can look simple at first, yet there is always more to find in it.`,
    `People come to ${topic} for different reasons: some out of curiosity, some because their work depends on it.`,
    `Whoever spends a little time with ${topic} every day will see the small details come together into a clear picture.`,
  ].join(" ");
}

/** What a message is about: the words after "about", or else its first words. Never empty. */
export function topicOf(message: string): string {
  const about = /\b(?:about|on the topic of|regarding) ([^.!?,;:\n]{1,80})/i.exec(message)?.[1];
  const words = (about ?? message)
    .slice(0, 200)
    .split(/\s+/)
    .filter((word) => word !== "");
  const topic = words
    .slice(0, 8)
    .join(" ")
    .replace(/^["'“`]+|["'”`.!?,;:]+$/g, "");
  return topic === "" ? "the demo" : topic;
}

export function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
