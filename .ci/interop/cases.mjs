// What every client must see, whatever it is and whichever transport it takes: the five tools, a result of each, an
// error that is a result and no exception, and a repeated reply that is one email and says so.
import assert from 'node:assert/strict';

const tools = ['assign_ticket', 'get_ticket', 'reply_to_customer', 'search_help', 'search_tickets'];

// checkTools judges the answer to tools/list.
export function checkTools(listed) {
  assert.deepEqual(listed.map((tool) => tool.name).sort(), tools);
  for (const tool of listed) {
    // Without an output schema the SDKs would let any structuredContent pass, and the checks below would be hollow.
    assert.equal(tool.outputSchema?.type, 'object', `${tool.name} has no output schema`);
    assert.equal(tool._meta?.['anthropic/alwaysLoad'], true, `${tool.name} would be deferred`);
    for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']) {
      assert.equal(typeof tool.annotations?.[hint], 'boolean', `${tool.name} lacks ${hint}`);
    }
  }
}

// cases are the calls in the order in which a client makes them. message is what the client's reply says, and missing the
// id of a ticket that does not exist. No other client may use the same: the server sends a reply once whoever asks, and it
// does not run a call that failed twice, by whichever stateless client with the same token.
export function cases({ message, missing }) {
  const reply = { ticket_id: 'KITE-142', message };
  let first;
  return [
    call('search_help', { query: 'locked out' }, ({ articles }) => {
      assert.ok(articles.some((article) => article.id === 'account-recovery#2'), 'the article is not among the hits');
    }),
    call('get_ticket', { ticket_id: 'KITE-142' }, (ticket) => {
      assert.equal(ticket.id, 'KITE-142');
      assert.equal(ticket.customer.name, 'Northwind Studio');
    }),
    call('search_tickets', { query: 'sso', status: null }, ({ tickets }) => {
      assert.ok(tickets.some((ticket) => ticket.id === 'KITE-142'), 'the ticket is not among the hits');
    }),
    call('assign_ticket', { ticket_id: 'KITE-142', assignee: 'priya' }, (ticket) => {
      assert.equal(ticket.assignee, 'priya');
    }),
    call('reply_to_customer', reply, (sent) => {
      assert.match(sent.reply_id, /^rpl_\d+$/);
      assert.ok(!sent.already_sent, 'a first reply was told to be a repeat');
      first = sent.reply_id;
    }),
    { ...call('reply_to_customer', reply, (sent) => {
      assert.equal(sent.reply_id, first);
      assert.equal(sent.already_sent, true);
      assert.ok(sent.note, 'nothing says in words that it is a repeat');
    }), name: 'the same reply again' },
    { name: 'an error is a result', tool: 'get_ticket', args: { ticket_id: missing }, judge(result) {
      assert.equal(result.isError, true);
      assert.equal(result.structuredContent, undefined, 'strict clients would hide the error');
      assert.equal(text(result), `Error: No ticket ${missing}. Ticket ids look like KITE-142.`);
    } },
    { name: 'bad arguments are a result', tool: 'get_ticket', args: { ticket_id: message }, judge(result) {
      assert.equal(result.isError, true);
      assert.match(text(result), /^Error: get_ticket was not run: .*ticket_id/);
    } },
  ];
}

// call is a case that must succeed; judgeObject gets its structuredContent.
function call(tool, args, judgeObject) {
  return { name: tool, tool, args, judge(result) {
    assert.ok(!result.isError, text(result));
    judgeObject(result.structuredContent);
    // Some hosts show a model only the text, others only the object, so each must tell everything.
    const json = text(result).split('\n').at(-1);
    assert.deepEqual(JSON.parse(json), result.structuredContent);
  } };
}

function text(result) {
  assert.equal(result.content.length, 1);
  assert.equal(result.content[0].type, 'text');
  return result.content[0].text;
}

// checkOneEmail asks the fake Kitebase how often the customer got message.
export async function checkOneEmail(kitebase, message) {
  const { emails } = await (await fetch(`${kitebase}/_outbox`)).json();
  assert.equal(emails.filter((email) => email.body === message).length, 1);
}
