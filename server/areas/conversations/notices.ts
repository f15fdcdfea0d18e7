import type { State } from './state.ts'

// What somebody outside is told about people, in the language of their page: who joined, who was told, when somebody answers. The
// languages are those of knowledge bases; anyone else reads English.

export type Notices = {
  locale: string
  aColleague: string
  joined(name: string): string
  handedBack: string
  told: string
  toldBefore: string
  theyAnswer: string
  cannotAnswer: string
  tryLater: string
  toldAlone: string
  nobodyThere: string
  from(time: string, zone: string): string
}

const en: Notices = {
  locale: 'en-GB',
  aColleague: 'A colleague',
  joined: (name) => `${name} has joined the conversation.`,
  handedBack: 'The assistant answers again.',
  told: 'I have told my colleagues that you would like to talk to a person.',
  toldBefore: 'My colleagues know that you wait for them.',
  theyAnswer: 'They will answer here.',
  cannotAnswer: 'Sorry, I cannot answer at the moment.',
  tryLater: 'Please try again later.',
  toldAlone: 'I have told my colleagues.',
  nobodyThere: 'Nobody is there at the moment.',
  from: (time, zone) => `They answer from ${time} (${zone}).`,
}

const de: Notices = {
  locale: 'de',
  aColleague: 'Jemand aus dem Team',
  joined: (name) => `${name} ist jetzt im Gespräch.`,
  handedBack: 'Der Assistent antwortet wieder.',
  told: 'Ich habe dem Team gesagt, dass Sie mit einem Menschen sprechen möchten.',
  toldBefore: 'Das Team weiß, dass Sie warten.',
  theyAnswer: 'Sie bekommen hier eine Antwort.',
  cannotAnswer: 'Leider kann ich im Moment nicht antworten.',
  tryLater: 'Bitte versuchen Sie es später noch einmal.',
  toldAlone: 'Ich habe dem Team Bescheid gegeben.',
  nobodyThere: 'Im Moment ist niemand da.',
  from: (time, zone) => `Sie bekommen eine Antwort ab ${time} (${zone}).`,
}

const fr: Notices = {
  locale: 'fr',
  aColleague: 'Un membre de l’équipe',
  joined: (name) => `${name} a rejoint la conversation.`,
  handedBack: 'L’assistant répond de nouveau.',
  told: 'J’ai dit à l’équipe que vous souhaitez parler à une personne.',
  toldBefore: 'L’équipe sait que vous attendez.',
  theyAnswer: 'Vous recevrez une réponse ici.',
  cannotAnswer: 'Désolé, je ne peux pas répondre pour le moment.',
  tryLater: 'Veuillez réessayer plus tard.',
  toldAlone: 'J’ai prévenu l’équipe.',
  nobodyThere: 'Il n’y a personne pour le moment.',
  from: (time, zone) => `L’équipe répond à partir de ${time} (${zone}).`,
}

const es: Notices = {
  locale: 'es',
  aColleague: 'Una persona del equipo',
  joined: (name) => `${name} se ha unido a la conversación.`,
  handedBack: 'El asistente vuelve a responder.',
  told: 'He avisado al equipo de que desea hablar con una persona.',
  toldBefore: 'El equipo sabe que está esperando.',
  theyAnswer: 'Recibirá una respuesta aquí.',
  cannotAnswer: 'Lo siento, no puedo responder en este momento.',
  tryLater: 'Inténtelo de nuevo más tarde.',
  toldAlone: 'He avisado al equipo.',
  nobodyThere: 'Ahora mismo no hay nadie.',
  from: (time, zone) => `El equipo responde a partir del ${time} (${zone}).`,
}

const no: Notices = {
  locale: 'nb',
  aColleague: 'En kollega',
  joined: (name) => `${name} er nå med i samtalen.`,
  handedBack: 'Assistenten svarer igjen.',
  told: 'Jeg har sagt fra til kollegene mine om at du ønsker å snakke med et menneske.',
  toldBefore: 'Kollegene mine vet at du venter.',
  theyAnswer: 'De svarer her.',
  cannotAnswer: 'Beklager, jeg kan ikke svare akkurat nå.',
  tryLater: 'Prøv igjen senere.',
  toldAlone: 'Jeg har sagt fra til kollegene mine.',
  nobodyThere: 'Det er ingen her akkurat nå.',
  from: (time, zone) => `De svarer fra ${time} (${zone}).`,
}

const languages = new Map(Object.entries({ en, de, fr, es, no, nb: no, nn: no }))

/** The tag comes from outside: a language that is not here, or none, is English. */
export const noticesFor = ({ visit }: Pick<State, 'visit'>): Notices =>
  languages.get(visit?.locale?.split('-')[0]?.toLowerCase() ?? '') ?? en

/** `closed`: when somebody answers, where nobody is there now. */
export const handedOver = (say: Notices, fresh: boolean, closed: string | null): string =>
  [fresh ? say.told : say.toldBefore, closed ?? say.theyAnswer].join(' ')

export const noAnswer = (say: Notices, closed: string | null): string =>
  [say.cannotAnswer, say.toldAlone, closed ?? say.theyAnswer].join(' ')

export const joined = (say: Notices, name: string | null): string => say.joined(name ?? say.aColleague)
