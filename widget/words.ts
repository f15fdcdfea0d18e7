// The widget's own texts, in the language of the browser: the languages of knowledge bases, otherwise English. The
// service provides the other texts.

const LANGUAGES = ['de', 'fr', 'es', 'no'] as const

/** Translations by English text, in the order of the languages. */
const words: Record<string, readonly [de: string, fr: string, es: string, no: string]> = {
  'Speak answers aloud': [
    'Antworten vorlesen',
    'Lire les réponses à voix haute',
    'Leer las respuestas en voz alta',
    'Les opp svarene',
  ],
  'Start a new conversation': [
    'Neues Gespräch beginnen',
    'Commencer une nouvelle conversation',
    'Empezar una conversación nueva',
    'Start en ny samtale',
  ],
  'Open the chat': ['Chat öffnen', 'Ouvrir la discussion', 'Abrir el chat', 'Åpne chatten'],
  'Close the chat': ['Chat schließen', 'Fermer la discussion', 'Cerrar el chat', 'Lukk chatten'],
  Close: ['Schließen', 'Fermer', 'Cerrar', 'Lukk'],
  Conversation: ['Gespräch', 'Conversation', 'Conversación', 'Samtale'],
  You: ['Sie', 'Vous', 'Usted', 'Du'],
  Thinking: ['Denkt nach', 'Réflexion en cours', 'Pensando', 'Tenker'],
  'Working on it': ['Ist in Arbeit', 'En cours de traitement', 'En curso', 'Jobber med saken'],
  'The connection was lost; trying again…': [
    'Die Verbindung ist abgerissen; neuer Versuch …',
    'La connexion est perdue ; nouvel essai…',
    'Se perdió la conexión; nuevo intento…',
    'Forbindelsen ble brutt; prøver igjen …',
  ],
  'Your message': ['Ihre Nachricht', 'Votre message', 'Su mensaje', 'Meldingen din'],
  'Write a message': ['Nachricht schreiben', 'Écrire un message', 'Escribir un mensaje', 'Skriv en melding'],
  'File to send': ['Datei zum Senden', 'Fichier à envoyer', 'Archivo para enviar', 'Fil å sende'],
  'Send a file': ['Datei senden', 'Envoyer un fichier', 'Enviar un archivo', 'Send en fil'],
  'Stop recording': ['Aufnahme beenden', 'Arrêter l’enregistrement', 'Detener la grabación', 'Stopp opptaket'],
  'Record a voice message': [
    'Sprachnachricht aufnehmen',
    'Enregistrer un message vocal',
    'Grabar un mensaje de voz',
    'Ta opp en talemelding',
  ],
  'Done.': ['Fertig.', 'Terminé.', 'Listo.', 'Ferdig.'],
  'It could not be completed:': [
    'Es konnte nicht abgeschlossen werden:',
    'Cela n’a pas pu être terminé :',
    'No se ha podido completar:',
    'Det kunne ikke fullføres:',
  ],
  'It was stopped.': ['Es wurde beendet.', 'Cela a été arrêté.', 'Se ha detenido.', 'Det ble stoppet.'],
  Send: ['Senden', 'Envoyer', 'Enviar', 'Send'],
  Cancel: ['Abbrechen', 'Annuler', 'Cancelar', 'Avbryt'],
  'Choose…': ['Auswählen …', 'Choisir…', 'Elegir…', 'Velg …'],
  'Your answer': ['Ihre Antwort', 'Votre réponse', 'Su respuesta', 'Svaret ditt'],
  'Cannot reach the chat right now.': [
    'Der Chat ist gerade nicht erreichbar.',
    'La discussion est injoignable pour le moment.',
    'No se puede acceder al chat en este momento.',
    'Chatten kan ikke nås akkurat nå.',
  ],
  'This conversation has ended. Write a message to start a new one.': [
    'Dieses Gespräch ist beendet. Schreiben Sie eine Nachricht, um ein neues zu beginnen.',
    'Cette conversation est terminée. Écrivez un message pour en commencer une autre.',
    'Esta conversación ha terminado. Escriba un mensaje para empezar otra.',
    'Denne samtalen er avsluttet. Skriv en melding for å starte en ny.',
  ],
  'The connection was lost. Try again in a moment.': [
    'Die Verbindung ist abgerissen. Versuchen Sie es gleich noch einmal.',
    'La connexion est perdue. Réessayez dans un instant.',
    'Se perdió la conexión. Inténtelo de nuevo en un momento.',
    'Forbindelsen ble brutt. Prøv igjen om litt.',
  ],
  'This chat is not allowed on this page.': [
    'Dieser Chat ist auf dieser Seite nicht erlaubt.',
    'Cette discussion n’est pas autorisée sur cette page.',
    'Este chat no está permitido en esta página.',
    'Denne chatten er ikke tillatt på denne siden.',
  ],
  'This chat is not available any more.': [
    'Dieser Chat ist nicht mehr verfügbar.',
    'Cette discussion n’est plus disponible.',
    'Este chat ya no está disponible.',
    'Denne chatten er ikke tilgjengelig lenger.',
  ],
  'Too many messages. Try again in a moment.': [
    'Zu viele Nachrichten. Versuchen Sie es gleich noch einmal.',
    'Trop de messages. Réessayez dans un instant.',
    'Demasiados mensajes. Inténtelo de nuevo en un momento.',
    'For mange meldinger. Prøv igjen om litt.',
  ],
  'Something went wrong. Try again in a moment.': [
    'Etwas ist schiefgegangen. Versuchen Sie es gleich noch einmal.',
    'Une erreur s’est produite. Réessayez dans un instant.',
    'Algo ha fallado. Inténtelo de nuevo en un momento.',
    'Noe gikk galt. Prøv igjen om litt.',
  ],
  'The service did not answer as expected.': [
    'Der Dienst hat unerwartet geantwortet.',
    'Le service n’a pas répondu comme prévu.',
    'El servicio no respondió como se esperaba.',
    'Tjenesten svarte ikke som forventet.',
  ],
  'Cannot use the microphone. Allow it in the browser, or type.': [
    'Das Mikrofon ist nicht nutzbar. Erlauben Sie es im Browser, oder tippen Sie.',
    'Impossible d’utiliser le micro. Autorisez-le dans le navigateur, ou écrivez.',
    'No se puede usar el micrófono. Permítalo en el navegador o escriba.',
    'Kan ikke bruke mikrofonen. Tillat den i nettleseren, eller skriv.',
  ],
}

export function languageOf(tag: string): number {
  const short = tag.split('-')[0]!.toLowerCase()
  return (LANGUAGES as readonly string[]).indexOf(short === 'nb' || short === 'nn' ? 'no' : short)
}

const chosen = typeof navigator === 'undefined' ? -1 : languageOf(navigator.language)

export const t = (text: string, language = chosen): string => words[text]?.[language] ?? text
