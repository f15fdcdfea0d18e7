import { date, email, field, flag, integer, moment, money, number, oneOf, say, text } from './case.ts'

// A second table, written after the rules and designed to mislead them. In the first test the rules read 85 of these
// hundred messages correctly. The rules were then improved, so the printed result shows that nothing got worse, not how
// well the rules read an unseen message.

export const harderCases = [
  say(
    "Hi there, I'd like to reserve a room for 3 nights starting next Monday, 2 adults.",
    [field('nights', integer), field('arrival_date', date), field('adults', integer)],
    { nights: 3, arrival_date: '2025-11-17', adults: 2 },
  ),
  say(
    'please cancel my subscription at the end of the month',
    [field('cancel_date', date), field('account_email', email)],
    { cancel_date: '2025-11-30' },
  ),
  say(
    "We'd need about 40 licences, our budget is roughly 12k euros per year",
    [field('licences', integer), field('budget', number)],
    { licences: 40, budget: 12000 },
  ),
  say('ship it to 5 Oak Avenue, Portland', [field('shipping_address', text)], {
    shipping_address: '5 Oak Avenue, Portland',
  }),
  say(
    "my laptop won't start since yesterday",
    [field('start_date', date), field('device', oneOf('laptop', 'phone', 'monitor'))],
    { device: 'laptop', start_date: '2025-11-11' },
  ),
  say('John Miller, john.miller@corp.com, +1 415 555 2671', [field('email', email), field('phone', text)], {
    email: 'john.miller@corp.com',
    phone: '+14155552671',
  }),
  say('can you deliver between 2pm and 4pm', [field('start_time', text), field('end_time', text)], {
    start_time: '14:00',
    end_time: '16:00',
  }),
  say("I'd rather have the vegetarian menu", [field('menu', oneOf('Meat menu', 'Fish menu', 'Vegetarian menu'))], {
    menu: 'Vegetarian menu',
  }),
  say('neither', [field('menu', oneOf('Meat menu', 'Fish menu'))], {}),
  say('no dogs, but we bring a cat', [field('dogs', flag)], { dogs: false }),
  say(
    'Set the priority to low and assign it to maria@firm.eu',
    [field('priority', oneOf('low', 'medium', 'high')), field('assignee', email)],
    { priority: 'low', assignee: 'maria@firm.eu' },
  ),
  say('the meeting should last an hour and a half', [field('duration_minutes', integer)], {}),
  say('the meeting should last 45 min', [field('duration_minutes', integer)], { duration_minutes: 45 }),
  say('I paid $1,299.00 on Oct 3', [field('amount', number), field('payment_date', date, 'When it was paid')], {
    amount: 1299,
    payment_date: '2025-10-03',
  }),
  say('Invoice no. 2025/118 over 340,50 €', [field('invoice_number', text), field('amount', number)], {
    invoice_number: '2025/118',
    amount: 340.5,
  }),
  say('I have 5 years of experience', [field('years_of_experience', integer), field('age', integer)], {
    years_of_experience: 5,
  }),
  say("I'm Dr. Sarah O'Neil from Dublin", [field('name', text), field('city', text)], { name: "Dr. Sarah O'Neil" }),
  say('We will arrive on the 20th and leave on the 23rd', [field('check_in', date), field('check_out', date)], {
    check_in: '2025-11-20',
    check_out: '2025-11-23',
  }),
  say('sometime in December', [field('date', date)], {}),
  say('as soon as possible', [field('date', date), field('priority', oneOf('low', 'high'))], {}),
  say('1st of January at midnight', [field('go_live', moment)], { go_live: '2026-01-01T00:00:00+01:00' }),
  say("Let's say Thursday, half past ten", [field('date', date)], { date: '2025-11-13' }),
  say('fifteen hundred', [field('quantity', integer)], { quantity: 1500 }),
  say("We're a team of 8 developers", [field('team_size', integer)], { team_size: 8 }),
  say("I don't want to receive the newsletter", [field('newsletter', flag)], { newsletter: false }),
  say('sign me up for the newsletter!', [field('newsletter', flag)], { newsletter: true }),
  say('I agree to the terms', [field('terms_accepted', flag)], {}),
  say('my new e-mail is new@me.org, the old one was old@me.org', [field('email', email)], { email: 'new@me.org' }),
  say('Berlin to Munich, tomorrow morning, one passenger', [field('passengers', integer), field('date', date)], {
    passengers: 1,
    date: '2025-11-13',
  }),
  say("what's the price for 10 seats?", [field('price', number), field('seats', integer)], { seats: 10 }),
  say('It costs 20', [field('price', number)], { price: 20 }),
  say('about twenty bucks', [field('price', money)], { price: { amount: 20, currency: 'USD' } }),
  say(
    'Large pepperoni pizza with extra cheese and no onions',
    [field('size', oneOf('small', 'medium', 'large')), field('extra_cheese', flag), field('onions', flag)],
    { size: 'large', extra_cheese: true, onions: false },
  ),
  say('two large pizzas', [field('quantity', integer), field('size', oneOf('small', 'medium', 'large'))], {
    quantity: 2,
    size: 'large',
  }),
  say('I want 2 large and 1 small pizza', [field('size', oneOf('small', 'medium', 'large'))], {}),
  say('customer id: C-991, region EMEA', [field('customer_id', text), field('region', oneOf('EMEA', 'APAC', 'AMER'))], {
    customer_id: 'C-991',
    region: 'EMEA',
  }),
  say('the ticket is #4521', [field('ticket_id', text)], { ticket_id: '4521' }),
  say('reference ABC123', [field('reference', text)], { reference: 'ABC123' }),
  say('Temperature was 38.5 this morning', [field('temperature', number)], { temperature: 38.5 }),
  say('I weigh 180 pounds', [field('weight_kg', number)], { weight_kg: 81.646627 }),
  say("it's 3 km away", [field('distance_km', number), field('price', number)], { distance_km: 3 }),
  say('from Monday to Wednesday', [field('start_date', date), field('end_date', date)], {
    start_date: '2025-11-17',
    end_date: '2025-11-19',
  }),
  say('11/12/2025', [field('date', date)], { date: '2025-12-11' }),
  say('Nov. 30th', [field('deadline', date)], { deadline: '2025-11-30' }),
  say('before Christmas', [field('deadline', date)], {}),
  say('Please book flight LH 123', [field('seats', integer), field('flight_number', text)], {
    flight_number: 'LH 123',
  }),
  say('My phone is broken', [field('phone', text), field('device', oneOf('phone', 'laptop'))], { device: 'phone' }),
  say("it's for my mother, she is 67", [field('age', integer)], { age: 67 }),
  say('yes I am over 18', [field('over_18', flag)], { over_18: true }),
  say(
    'language: German; level: beginner',
    [field('language', oneOf('English', 'German', 'French')), field('level', oneOf('beginner', 'advanced'))],
    { language: 'German', level: 'beginner' },
  ),
  say('Deutsch', [field('language', oneOf('English', 'German'))], {}),
  say("Thanks, that's all", [field('name', text), field('confirmed', flag), field('date', date)], {}),
  say(
    'ok so the thing is that my order 55821 arrived damaged and I want my money back',
    [field('order_number', text), field('resolution', oneOf('refund', 'replacement'))],
    { order_number: '55821' },
  ),
  say("I'd like a replacment please", [field('resolution', oneOf('refund', 'replacement'))], {
    resolution: 'replacement',
  }),
  say(
    'Contact: Jane Doe\nCompany: ACME GmbH\nEmployees: 250',
    [field('contact_name', text), field('company', text), field('employees', integer)],
    { company: 'ACME GmbH', employees: 250, contact_name: 'Jane Doe' },
  ),
  say('my colleagues paul@x.com and rita@x.com should join', [field('attendees', { type: 'array', items: email })], {
    attendees: ['paul@x.com', 'rita@x.com'],
  }),
  say(
    'Mondays and Wednesdays',
    [field('days', { type: 'array', items: oneOf('Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday') })],
    { days: ['Monday', 'Wednesday'] },
  ),
  say('100 shares at 12.5 dollars each', [field('shares', integer), field('price', number)], {
    shares: 100,
    price: 12.5,
  }),
  say('at 5', [field('time', text)], { time: '05:00' }),
  say('-3.5', [field('offset', number)], { offset: -3.5 }),
  say(
    'My colleague Peter said the printer in room 204 is out of paper',
    [field('room', text), field('guests', integer), field('name', text)],
    {},
  ),
  say('The invoice from 3 October for 200 euros is wrong, it should be 180 euros', [field('amount', number)], {}),
  say("I'm traveling with my wife and two kids", [field('children', integer), field('adults', integer)], {
    children: 2,
  }),
  say('We moved here in 2019 and have 3 employees', [field('employees', integer), field('founded', integer)], {
    employees: 3,
  }),
  say(
    'could you send 10 copies to the Munich office by Friday',
    [field('copies', integer), field('due_date', date), field('city', text)],
    { copies: 10, due_date: '2025-11-14' },
  ),
  say("I'm happy with that", [field('name', text), field('confirmed', flag)], {}),
  say("I'm Happy Gilmore", [field('name', text)], { name: 'Happy Gilmore' }),
  say('no', [field('confirmed', flag), field('name', text)], { confirmed: false }),
  say('Nobody told me about the meeting on Tuesday', [field('date', date)], { date: '2025-11-18' }),
  say('My password is hunter2', [field('username', text), field('email', email)], {}),
  say('The answer to both is yes', [field('breakfast', flag), field('parking', flag)], {}),
  say('It should arrive on 5 January or at the latest on 8 January', [field('delivery_date', date)], {}),
  say(
    'Version 2.4.1 crashes on Windows 11',
    [field('version', text), field('quantity', integer), field('os', oneOf('Windows', 'macOS', 'Linux'))],
    { os: 'Windows' },
  ),
  say('use the card ending in 4242', [field('quantity', integer), field('card_last4', text)], {}),
  say('I need 3 more days', [field('days', integer), field('date', date)], { days: 3 }),
  say('delivery time: 10-12 days', [field('delivery_days', integer)], {}),
  say('how about 6pm instead of 5pm', [field('time', text)], { time: '18:00' }),
  say('Do you accept dogs?', [field('dogs', flag)], {}),
  say('we have two dogs', [field('dogs', integer)], { dogs: 2 }),
  say('I have dogs', [field('has_dogs', flag)], { has_dogs: true }),
  say('Could I get it in a medium? If not, large is fine', [field('size', oneOf('small', 'medium', 'large'))], {}),
  say('the red wine please', [field('color', oneOf('red', 'white')), field('quantity', integer)], { color: 'red' }),
  say("I'd like to order 2x espresso and 1x cappuccino", [field('espresso', integer), field('cappuccino', integer)], {
    espresso: 2,
    cappuccino: 1,
  }),
  say("My mother's name is Rose", [field('name', text)], { name: 'Rose' }),
  say('10% off', [field('discount_percent', number), field('price', number)], { discount_percent: 10 }),
  say('the salary is 55k per year', [field('salary', number)], { salary: 55000 }),
  say('5 feet', [field('height_cm', number)], { height_cm: 152.4 }),
  say('call +44 20 7946 0958 after 3pm', [field('phone', text), field('time', text)], {
    phone: '+442079460958',
    time: '15:00',
  }),
  say('account number 1234567890', [field('phone', text), field('account_number', text)], {
    account_number: '1234567890',
  }),
  say('12345678', [field('phone', text)], {}),
  say('Reschedule from Friday to Monday', [field('new_date', date)], {}),
  say('Reschedule from Friday to Monday', [field('from_date', date), field('to_date', date)], {
    from_date: '2025-11-14',
    to_date: '2025-11-17',
  }),
  say('I am free all week except Thursday', [field('date', date)], {}),
  say('a quarter of the team is sick', [field('team_size', integer), field('time', text)], {}),
  say('tell me about your second product', [field('product', oneOf('Alpha', 'Beta', 'Gamma'))], {}),
  say('Beta or Gamma?', [field('product', oneOf('Alpha', 'Beta', 'Gamma'))], {}),
  say(
    'title: Q3 report\nowner: kim@co.io\ndue: 2025-12-01\nconfidential: yes',
    [field('title', text), field('owner', email), field('due', date), field('confidential', flag)],
    { title: 'Q3 report', owner: 'kim@co.io', due: '2025-12-01', confidential: true },
  ),
  say('{"name": "Eve", "age": 31}', [field('name', text), field('age', integer)], { name: 'Eve', age: 31 }),
  say("I'd say 7 out of 10", [field('rating', { type: 'integer', minimum: 1, maximum: 10 })], { rating: 7 }),
  say('rating 4', [field('rating', { type: 'integer', minimum: 1, maximum: 5 })], { rating: 4 }),
]
