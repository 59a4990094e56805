// Cancels the open orders of a customer, all or none, and answers with their number.
function cancelAll() {
  const container = getContext().getCollection();
  let cancelled = 0;

  function accepted(is) {
    if (!is) throw new Error("out of time");
  }

  function cancel(order) {
    order.status = "cancelled";
    accepted(container.replaceDocument(order._self, order, { etag: order._etag }, (err) => {
      if (err) throw err;
      getContext().getResponse().setBody(++cancelled);
    }));
  }

  function page(continuation) {
    const query = "SELECT * FROM c WHERE c.status = 'open'";
    accepted(container.queryDocuments(container.getSelfLink(), query, { continuation }, (err, orders, options) => {
      if (err) throw err;
      orders.forEach(cancel);
      if (options.continuation) page(options.continuation);
    }));
  }

  getContext().getResponse().setBody(cancelled);
  page();
}
