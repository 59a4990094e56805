import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{c as t,d as n,h as r,hr as i,i as a,l as o,m as s,mr as c,n as l,p as ee,r as u,s as d,t as f,u as p}from"./vendor-Cu5p3d-4.js";function m(e){return new Worker(`/playground/assets/json.worker-ky6CAS4V.js`,{type:`module`,name:e?.name})}function te(e){return new Worker(`/playground/assets/editor.worker-DEFT_Yb2.js`,{type:`module`,name:e?.name})}function ne(e){return new Worker(`/playground/assets/graphql.worker-CnQW6F4w.js`,{type:`module`,name:e?.name})}window.MonacoEnvironment={getWorker:(e,t)=>t===`json`?new m:t===`graphql`?new ne:new te};var re=a(),h=e(c(),1),g={answers:0,total:0},_=new Set;function v({result:e,...t}){let n=e.extensions?.cosmos,r=(e.errors??[]).map(e=>String(e.extensions?.code??``));g={last:{...t,codes:r,cosmos:n},answers:g.answers+1,total:g.total+(n?.requestCharge??0)};for(let e of _)e()}function ie(e){return _.add(e),()=>_.delete(e)}var y=()=>(0,h.useSyncExternalStore)(ie,()=>g),b=e=>`${e.toLocaleString(`en`,{maximumFractionDigits:2})} RU`;function x(e){let t=new Map,n=new Set;function r(t){try{return t(e())}catch{return null}}let i=e=>n.forEach(t=>t(e));return addEventListener(`storage`,e=>{e.storageArea===r(e=>e)&&(e.key===null?t.clear():t.delete(e.key),i(e.key))}),addEventListener(`pageshow`,e=>e.persisted&&i(null)),{get:e=>t.get(e)??r(t=>t.getItem(e)),set(e,n){t.delete(e),n===null?r(t=>t.removeItem(e)):r(t=>t.setItem(e,n))===null&&t.set(e,n),i(e)},follow(e,t){let r=n=>(n===null||n===e)&&t();return n.add(r),()=>n.delete(r)}}}var S=x(()=>localStorage);x(()=>sessionStorage);function C(e){let t=new Set,n=()=>e,r=e=>(t.add(e),()=>t.delete(e));return{get:n,set(n){e=n,t.forEach(e=>e())},follow:r,use:()=>(0,h.useSyncExternalStore)(r,n)}}var w=`cosmosblog.session`,T=()=>JSON.parse(S.get(w)??`null`),E=C(T());S.follow(w,()=>E.set(T()));function D(e){S.set(O,e.name),S.set(w,JSON.stringify(e))}var ae=()=>S.set(w,null);function oe(e){let t=T();t&&t.token===e&&S.set(w,JSON.stringify({name:t.name}))}var se=class extends Error{};async function ce(e){let t=e.trim().toLowerCase(),{token:n,errors:r}=await(await fetch(`/development/token`,{method:`POST`,headers:{"Content-Type":`application/json`},body:JSON.stringify({name:t})})).json();if(!n)throw new se(r?.[0]?.message??`This server signs nobody in by name.`);return{name:t,token:n}}var O=`cosmosblog.name`,le=()=>S.get(O)??`anna`,k=e=>e?.token?e:void 0,A=()=>k(E.get()),j=()=>k(E.use()),M=({token:e})=>`Bearer ${e}`;function ue(){let e=A();return{...e&&{authorization:M(e)},"x-cosmos-diagnostics":`1`}}async function de(e,t,n){let r=new Headers(t);return r.set(`accept`,`application/graphql-response+json, application/json`),r.set(`content-type`,`application/json`),fetch(e,{method:`POST`,headers:r,body:JSON.stringify(n)})}async function N(e,t={}){let n=A(),r=new Headers(ue());for(let[e,n]of Object.entries(t))r.set(e,String(n));let i=await de(`/graphql`,r,e);return i.status!==401||!n||r.get(`authorization`)!==M(n)?i:(oe(n.token),N(e,t))}var P=async(e,t)=>{let n=performance.now(),i,a;try{i=await(await N({...e,operationName:F(e)},t?.headers)).text(),a=JSON.parse(i)}catch{return{errors:[new r(`The server does not answer. Is it still running?`)]}}return e.operationName!==`IntrospectionQuery`&&v({result:a,milliseconds:performance.now()-n,bytes:new Blob([i]).size}),a};function F({query:e,operationName:t}){try{let n=ee(e).definitions.filter(e=>e.kind===s.OPERATION_DEFINITION).map(e=>e.name?.value);return n.length===1?n[0]:t}catch{return t}}async function I(e,t){let n=await(await N({query:e,variables:t})).json();if(n.errors?.[0])throw Error(n.errors[0].message);return n.data}async function L(){let{viewer:e,feed:t}=await I(`{ viewer { id } feed(first: 20) { nodes { id commentCount likeCount author { id } } } }`,{}),n=e=>Math.min(e.commentCount,e.likeCount),r=t?.nodes.toSorted((e,t)=>n(t)-n(e))[0];return{postId:r?.id,userId:e?.id??r?.author.id}}var R=i();function z({className:e,children:t}){return(0,R.jsx)(`svg`,{className:e,viewBox:`0 0 24 24`,fill:`none`,stroke:`currentColor`,strokeWidth:`1.75`,strokeLinecap:`round`,strokeLinejoin:`round`,"aria-hidden":`true`,children:t})}var B=()=>(0,R.jsxs)(z,{className:`graphiql-toolbar-icon`,children:[(0,R.jsx)(`circle`,{cx:`8`,cy:`15`,r:`4.5`}),(0,R.jsx)(`path`,{d:`m11.5 11.5 8-8M16 7l3 3`})]}),V=()=>(0,R.jsxs)(z,{children:[(0,R.jsx)(`rect`,{x:`3.5`,y:`3.5`,width:`17`,height:`17`,rx:`3`}),(0,R.jsx)(`path`,{d:`m8 9 3 3-3 3M13.5 15H17`})]}),H={title:`Request charges`,icon:()=>(0,R.jsxs)(z,{children:[(0,R.jsx)(`path`,{d:`M4 17.5a9 9 0 1 1 16 0M12 14.5l4-5`}),(0,R.jsx)(`circle`,{cx:`12`,cy:`14.5`,r:`1.2`})]}),content:fe};function fe(){let{last:e,answers:t,total:n}=y(),r=e?.cosmos;return(0,R.jsxs)(`section`,{className:`charges`,"aria-labelledby":`charges`,children:[(0,R.jsx)(`h2`,{id:`charges`,className:`panel-title`,children:`Request charges`}),!e&&(0,R.jsx)(`p`,{className:`panel-text`,children:`Run an operation to see what it costs in request units (RU).`}),e&&!r&&(0,R.jsx)(`p`,{className:`panel-text`,children:`The last answer has no charges, because it was rejected before it was executed.`}),r&&(0,R.jsxs)(R.Fragment,{children:[(0,R.jsxs)(`dl`,{children:[(0,R.jsx)(U,{name:`RU charged`,value:String(r.requestCharge)}),(0,R.jsx)(U,{name:`RU estimated`,value:String(r.estimate)}),(0,R.jsx)(U,{name:`Requests`,value:String(r.requests.filter(e=>!e.cached).length)})]}),(0,R.jsx)(`div`,{className:`scroll`,tabIndex:0,role:`region`,"aria-label":`Requests to Cosmos DB`,children:(0,R.jsxs)(`table`,{children:[(0,R.jsx)(`thead`,{children:(0,R.jsxs)(`tr`,{children:[(0,R.jsx)(`th`,{scope:`col`,children:`Field and request`}),(0,R.jsx)(`th`,{scope:`col`,className:`number`,children:`RU`})]})}),(0,R.jsx)(`tbody`,{children:r.requests.map((e,t)=>(0,R.jsx)(pe,{sent:e},t))})]})}),r.requests.some(e=>e.cached)&&(0,R.jsx)(`p`,{className:`panel-text`,children:`A cached read cost nothing, because nothing was written to its partition since it was last read.`})]}),t>0&&(0,R.jsxs)(`p`,{className:`panel-text`,children:[b(n),` in `,t,` `,t===1?`answer`:`answers`,` since this page was loaded.`]})]})}var U=({name:e,value:t})=>(0,R.jsxs)(`div`,{children:[(0,R.jsx)(`dt`,{children:e}),(0,R.jsx)(`dd`,{children:t})]});function pe({sent:e}){let t=[e.partitionKey].flat();return(0,R.jsxs)(`tr`,{children:[(0,R.jsxs)(`td`,{children:[(0,R.jsx)(`code`,{children:e.path.join(`.`)||`–`}),(0,R.jsx)(`br`,{}),e.operation,` in `,(0,R.jsx)(`strong`,{children:e.container}),e.status>=400&&`, status ${e.status}`,(0,R.jsx)(`br`,{}),(0,R.jsx)(`code`,{className:`key`,title:t.join(`, `),children:t.length>1?`${t.length} partitions`:t[0]})]}),(0,R.jsx)(`td`,{className:`number`,children:e.cached?`cached`:e.requestCharge.toFixed(2)})]})}var me=Object.assign({"./examples/comments.graphql":`# Q4: a post’s comments. One query
# in one partition, and a point
# read that checks the post.
query Comments($postId: ID!) {
  post(id: $postId) {
    title
    comments(first: 20, order: NEWEST_FIRST) {
      totalCount
      nodes {
        id
        content
        author {
          username
        }
        creationDate
      }
    }
  }
}
`,"./examples/create-comment.graphql":`# C3: comment on a post. A stored
# procedure also counts the comment.
mutation CreateComment($postId: ID!, $content: String!) {
  createComment(input: { postId: $postId, content: $content }) {
    comment {
      id
      content
    }
    post {
      id
      commentCount
    }
  }
}
`,"./examples/create-post.graphql":`# C2: publish a post. Its copies
# in lists follow within moments.
mutation CreatePost($title: String!, $content: String!) {
  createPost(input: { title: $title, content: $content }) {
    post {
      id
      title
      version
    }
  }
}
`,"./examples/create-user.graphql":`# C1: create a user. To sign in,
# use the key in the toolbar.
mutation CreateUser($username: String!) {
  createUser(input: { username: $username }) {
    user {
      id
      username
      creationDate
    }
  }
}
`,"./examples/feed.graphql":`# Q6: the most recent posts.
# One query in one partition.
query Feed {
  feed(first: 20) {
    nodes {
      id
      title
      excerpt
      author {
        id
        username
      }
      commentCount
      likeCount
      creationDate
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,"./examples/like-post.graphql":`# C4: like a post. A stored
# procedure also counts the like.
mutation LikePost($postId: ID!) {
  likePost(input: { postId: $postId }) {
    like {
      id
    }
    post {
      id
      likeCount
      viewerHasLiked
    }
  }
}
`,"./examples/likes.graphql":`# Q5: a post’s likes. One query
# in one partition, and a point
# read that checks the post.
query Likes($postId: ID!) {
  post(id: $postId) {
    title
    likes(first: 20) {
      totalCount
      nodes {
        id
        user {
          username
        }
        creationDate
      }
    }
  }
}
`,"./examples/post.graphql":`# Q2: a post with its author’s
# name and counts. One point read.
query Post($postId: ID!) {
  post(id: $postId) {
    id
    title
    content
    author {
      id
      username
    }
    commentCount
    likeCount
    creationDate
  }
}
`,"./examples/user-posts.graphql":`# Q3: a user’s posts. One query in
# one partition, and a point read
# that checks the user.
query UserPosts($userId: ID!) {
  user(id: $userId) {
    username
    posts(first: 20) {
      nodes {
        id
        title
        excerpt
        commentCount
        likeCount
        creationDate
      }
    }
  }
}
`,"./examples/user.graphql":`# Q1: a user. One point read.
query User($userId: ID!) {
  user(id: $userId) {
    id
    username
    creationDate
    postCount
  }
}
`}),W=(e,t,n,r,i)=>({code:e,title:t,articleRU:n,query:me[`./examples/${r}.graphql`],variables:i?G(i):``}),G=e=>JSON.stringify(e,null,2),K=[W(`Q6`,`Recent posts`,16.97,`feed`),W(`C1`,`Create a user`,5.71,`create-user`,{username:``}),W(`Q1`,`A user`,1,`user`,{userId:``}),W(`C2`,`Publish a post`,8.76,`create-post`,{title:`One partition is enough`,content:`Every list of this blog is one query in one partition.`}),W(`Q2`,`A post`,1,`post`,{postId:``}),W(`Q3`,`A user’s posts`,6.46,`user-posts`,{userId:``}),W(`C3`,`Comment on a post`,15.27,`create-comment`,{postId:``,content:`Well said.`}),W(`Q4`,`A post’s comments`,7.72,`comments`,{postId:``}),W(`C4`,`Like a post`,14.67,`like-post`,{postId:``}),W(`Q5`,`A post’s likes`,8.92,`likes`,{postId:``})];function q(e){let t=J(e);return[`postId`,`userId`,`username`].filter(e=>t?.[e]===``)}function he(e,t){let n=J(e);if(!n)return e;for(let r of q(e))n[r]=t[r]??``;return G(n)}function J(e){try{let t=JSON.parse(e);return typeof t==`object`&&t?t:void 0}catch{return}}var Y=()=>matchMedia(`(max-width: 48rem)`).matches,X={title:`Examples`,icon:V,content:ge};function ge(){let{addTab:e,changeTab:t,setVisiblePlugin:r}=n(),i=p(e=>e.tabs),a=p(e=>e.activeTabIndex),o=p(e=>e.queryEditor),s=p(e=>e.variableEditor),c=({query:e})=>i.findIndex(t=>t.query===e),l=n=>{let i=c(n);i<0?e():i!==a&&t(i),o?.setValue(n.query),s?.setValue(n.variables),Y()&&r(null)};return(0,R.jsxs)(`section`,{className:`examples`,"aria-labelledby":`examples`,children:[(0,R.jsx)(`h2`,{id:`examples`,className:`panel-title`,children:`Examples`}),(0,R.jsxs)(`p`,{className:`panel-text`,children:[`The ten operations of the article that this blog implements. C are commands and need a`,` `,(0,R.jsx)(`span`,{className:`nowrap`,children:`sign-in`}),`, Q are queries. The charge is what the article measured.`]}),(0,R.jsx)(`ol`,{children:K.map(e=>(0,R.jsx)(`li`,{children:(0,R.jsxs)(`button`,{type:`button`,onClick:()=>l(e),"aria-current":c(e)===a?`true`:void 0,children:[(0,R.jsx)(`span`,{className:`code`,children:e.code}),(0,R.jsx)(`span`,{className:`title`,children:e.title}),(0,R.jsx)(`span`,{className:`charge`,children:b(e.articleRU)})]})},e.code))}),(0,R.jsxs)(`p`,{className:`panel-text`,children:[`An empty blog has nothing to read: sign in, and begin with C1. `,(0,R.jsx)(`code`,{children:`cosmosblog seed --users 20`}),` writes sample data.`]})]})}var _e=e(o(),1);function ve(){let e=j(),[t,n]=(0,h.useState)(!1);return xe(()=>n(!0)),(0,R.jsxs)(R.Fragment,{children:[(0,R.jsx)(d,{label:e?`Signed in as ${e.name}`:`Sign in with a development token`,className:e&&`signed-in`,onClick:()=>n(!0),children:(0,R.jsx)(B,{})}),(0,R.jsxs)(u,{open:t,onOpenChange:n,children:[(0,R.jsxs)(`div`,{className:`graphiql-dialog-header`,children:[(0,R.jsx)(u.Title,{className:`graphiql-dialog-title`,children:`Sign in`}),(0,R.jsx)(u.Close,{})]}),(0,R.jsx)(ye,{onDone:()=>n(!1)})]})]})}function ye({onDone:e}){let n=j(),r=(0,h.useId)(),[i,a]=(0,h.useState)(le),[o,s]=(0,h.useState)(``);return(0,R.jsxs)(`form`,{className:`sign-in`,onSubmit:async t=>{t.preventDefault();try{D(await ce(i)),e()}catch(e){s(e.message)}},children:[(0,R.jsx)(u.Description,{children:`In development, the server signs in any name. The token goes with the operations of all tabs, unless a tab’s headers have another.`}),(0,R.jsx)(`label`,{htmlFor:r,children:`Name`}),(0,R.jsx)(`input`,{id:r,value:i,onChange:e=>a(e.target.value),required:!0,autoFocus:!0,maxLength:255,autoComplete:`username`,spellCheck:!1,"aria-invalid":o!==``,"aria-describedby":`${r}-fault`}),(0,R.jsx)(`p`,{id:`${r}-fault`,className:`fault`,role:`alert`,children:o}),(0,R.jsxs)(`div`,{className:`buttons`,children:[n&&(0,R.jsx)(t,{type:`button`,onClick:()=>(ae(),e()),children:`Sign out`}),(0,R.jsx)(t,{type:`submit`,className:`primary`,children:`Sign in`})]})]})}var Z=new EventTarget,be=()=>Z.dispatchEvent(new Event(`sign-in`));function xe(e){(0,h.useEffect)(()=>(Z.addEventListener(`sign-in`,e),()=>Z.removeEventListener(`sign-in`,e)),[e])}var Q=e=>e.tabs[e.activeTabIndex]?.id;function Se(){Ce();let e=p(Q);(0,h.useEffect)(()=>{document.querySelector(`.graphiql-tab-active`)?.scrollIntoView({block:`nearest`,inline:`nearest`})},[e])}function Ce(){let e=j(),t=p(e=>e.variableEditor),n=p(Q),r=p(e=>e.isFetching),i=p(e=>e.tabs[e.activeTabIndex]?.query);(0,h.useEffect)(()=>{let n=t?.getValue()??``,i=q(n);if(!t||r||i.length===0)return;let a=!0;return(i.some(e=>e!==`username`)?L():Promise.resolve({})).then(r=>{let i=he(n,{...r,username:e?.name});a&&t.getValue()===n&&i!==n&&t.setValue(i)},()=>{}),()=>{a=!1}},[e,t,n,r,i])}function $(){Se();let e=we(),{last:n}=y();return n?(0,R.jsxs)(`div`,{className:`footer`,role:`status`,children:[n.cosmos&&(0,R.jsx)(t,{type:`button`,className:`total`,onClick:e,children:b(n.cosmos.requestCharge)}),n.cosmos&&(0,R.jsx)(`span`,{children:Te(n.cosmos.requests)}),(0,R.jsxs)(`span`,{children:[Math.round(n.milliseconds),` ms`]}),(0,R.jsx)(`span`,{children:Ee(n.bytes)}),(0,R.jsx)(De,{codes:n.codes})]}):(0,R.jsx)(`p`,{className:`footer`,children:`The charge of each answer is shown here.`})}function we(){let{setVisiblePlugin:e}=n();return()=>{(0,_e.flushSync)(()=>e(null)),document.querySelector(`[aria-label="Show ${H.title}"]`).click()}}function Te(e){let t=e.filter(e=>!e.cached).length,n=e.length-t;if(n>0&&t===0)return`${n} cached`;let r=`${t} ${t===1?`request`:`requests`}`;return n>0?`${r}, ${n} cached`:r}var Ee=e=>e<1e3?`${e} bytes`:`${(e/1e3).toFixed(1)} kB`;function De({codes:e}){let r=j(),{run:i}=n(),[a,o]=(0,h.useState)(``);return e.includes(`UNAUTHENTICATED`)?(0,R.jsx)(t,{type:`button`,className:`next`,onClick:be,children:`Sign in`}):!e.includes(`USER_REQUIRED`)||!r?null:(0,R.jsxs)(R.Fragment,{children:[(0,R.jsxs)(t,{type:`button`,className:`next`,onClick:async()=>{try{await I(`mutation ($username: String!) { createUser(input: { username: $username }) { user { id } } }`,{username:r.name}),i()}catch(e){o(e.message)}},children:[`Create the user `,r.name]}),a&&(0,R.jsx)(`span`,{className:`fault`,children:a})]})}var Oe=K.map(({query:e,variables:t})=>({query:e,variables:t})),ke=[l,X,H];(0,re.createRoot)(document.getElementById(`root`)).render((0,R.jsxs)(R.Fragment,{children:[(0,R.jsx)(`h1`,{className:`hidden`,children:`GraphiQL of cosmosblog`}),(0,R.jsxs)(f,{fetcher:P,plugins:ke,visiblePlugin:Y()?void 0:X,defaultTabs:Oe,shouldPersistHeaders:!1,showPersistHeadersSettings:!1,defaultEditorToolsVisibility:`variables`,schemaDescription:!0,children:[(0,R.jsx)(f.Logo,{children:(0,R.jsxs)(`a`,{className:`logo`,href:`/`,children:[(0,R.jsx)(`img`,{src:`/playground/icon.svg`,alt:``,width:`22`,height:`22`}),`cosmosblog`]})}),(0,R.jsx)(f.Toolbar,{children:({prettify:e,copy:t,merge:n})=>(0,R.jsxs)(R.Fragment,{children:[(0,R.jsx)(ve,{}),e,n,t]})}),(0,R.jsx)(f.Footer,{children:(0,R.jsx)($,{})})]})]}));