// The few sentences that the demo model writes itself, and their topic.

/** The opening words of a question or a request, before its topic. */
const opening =
  /^(?:(?:please|can|could|would|will|you|me|us|what|who|why|how|when|where|is|are|was|were|do|does|did|tell|explain|describe|write|draft|summari[sz]e|a|an|the)\b[\s,’'s]*)+/i;

/** The topic of a message: the words after "about", or else its first words. Never empty. */
export function topicOf(message: string): string {
  const about = /\b(?:about|regarding|on the topic of) ([^.!?,;:\n]{1,80})/i.exec(message)?.[1];
  const words = (about ?? message.slice(0, 400).replace(opening, "")).split(/\s+/).slice(0, 8).join(" ");
  const topic = words.replace(/^["'“‘`]+|["'”’`.!?,;:]+$/g, "").trim();
  return topic === "" ? "walking" : topic;
}

export function paragraphAbout(topic: string): string {
  return (
    `There is more to ${topic} than one sees at first. ` +
    `Some people come to ${topic} out of curiosity and others because of their work, and both keep finding something new. ` +
    `A little time with ${topic} every day, and the details become a clear picture.`
  );
}
