import {
  type Case,
  color,
  contact,
  day,
  field,
  flag,
  guests,
  integer,
  leave,
  reply,
  say,
  table,
  text,
  trip,
} from './case.ts'

export const named: Case[] = [
  say('name: Anna Smith, city: Berlin', [field('name', text), field('city', text)], {
    name: 'Anna Smith',
    city: 'Berlin',
  }),
  say('Name = Bob\nCity = Paris\nZip = 75001', [field('name', text), field('city', text)], {
    name: 'Bob',
    city: 'Paris',
  }),
  say('My name is Anna and my city is Rome', [field('name', text), field('city', text)], {
    name: 'Anna',
    city: 'Rome',
  }),
  say('I live in New York', [field('city', text)], { city: 'New York' }),
  say('I want to fly from London to Paris on 3 December, back on 10 December', trip, {
    origin: 'London',
    destination: 'Paris',
    departure_date: '2025-12-03',
    return_date: '2025-12-10',
  }),
  say('A flight to Rome, please', trip, { destination: 'Rome' }),
  say('Please change my address to 12 Main Street, Springfield', [field('address', text)], {
    address: '12 Main Street, Springfield',
  }),
  say('my address is wrong', [field('address', text), field('phone', text)], {}),
  say('reason: laptop broken', [field('reason', text)], { reason: 'laptop broken' }),
  say('I need a refund because the parcel was broken.', [field('reason', text)], { reason: 'the parcel was broken' }),
  say('name: not sure yet', [field('name', text)], {}),
  say('My name is not important', [field('name', text)], {}),
  say('I work for Acme Corp', [field('company', text)], { company: 'Acme Corp' }),
  say('This is Maria Garcia from Acme', [field('first_name', text), field('last_name', text), field('company', text)], {
    first_name: 'Maria',
    last_name: 'Garcia',
    company: 'Acme',
  }),
  say('tags: urgent, billing and refund', [field('tags', { type: 'array', items: text })], {
    tags: ['urgent', 'billing', 'refund'],
  }),
  say('title: "Hello, world"', [field('title', text)], { title: 'Hello, world' }),
  say('firstName: Ada, lastName: Lovelace', [field('firstName', text), field('lastName', text)], {
    firstName: 'Ada',
    lastName: 'Lovelace',
  }),
  say('Hello!', [...contact, day, guests], {}),
  say('What can you do?', [...contact, color, field('newsletter', flag)], {}),
  say('', [day, guests, field('name', text)], {}),
  say('The quantity should be 40 and the color black', [field('quantity', integer), color], {
    quantity: 40,
    color: 'black',
  }),
  say('start_date: 2026-01-01, end_date: 2026-01-01', leave.slice(0, 2), {
    start_date: '2026-01-01',
    end_date: '2026-01-01',
  }),
]

export const conversations: Case[] = [
  reply('name', 'anna smith', [field('name', text)], { name: 'anna smith' }),
  reply('reason', 'The screen is cracked.', [field('reason', text)], { reason: 'The screen is cracked' }),
  reply('reason', 'why do you ask?', [field('reason', text)], {}),
  reply('guests', 'just one', [guests], { guests: 1 }),
  reply('breakfast', 'yes please', [field('breakfast', flag), field('parking', flag)], { breakfast: true }),
  reply(
    'end_date',
    '20 December',
    leave.slice(0, 2),
    { start_date: '2025-12-10', end_date: '2025-12-20' },
    { start_date: '2025-12-10' },
  ),
  reply('start_date', '12 March', leave.slice(0, 2), { start_date: '2026-03-12' }),
  {
    message: 'make it 5 guests',
    wants: [guests, day],
    known: { guests: 4, date: '2025-11-14' },
    values: { guests: 5, date: '2025-11-14' },
  },
  {
    message: 'at 8pm',
    wants: table,
    known: { guests: 4, date: '2025-11-14' },
    values: { guests: 4, date: '2025-11-14', time: '20:00' },
  },
  reply('name', "I don't know", [field('name', text)], {}),
]
